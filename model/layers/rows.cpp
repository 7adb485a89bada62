// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/rows.hpp"

#include "core/device/launch.hpp"
#include "core/system/error.hpp"
#include "model/layers/column_strips.hpp"
#include "model/layers/rows_body.hpp"

#include <algorithm>
#include <type_traits>

namespace bellwether::model {

template <class Real>
Real* PendingSums<Real>::put(Index blocks, ColumnSums<Real> const& to) {
  require(count_ < most, "too many pending sums for one launch");
  Index const size = blocks * to.columns();
  require(taken_ + size <= std::ssize(scratch_), "scratch for pending sums is too small");
  Real* const partial = scratch_.data() + taken_;
  puts_[count_++] = {blocks, partial, to};
  taken_ += (size + 3) / 4 * 4;
  return partial;
}

template <class Real>
template <class Space>
void PendingSums<Real>::add(Space const& exec) {
  if (count_ == 0) return;
  constexpr Index across = TeamShape<Space>::host ? AddBlockSums<Real>::strip : ColumnTeam<Space>::across;
  AddAllBlockSums<Real> all;
  for (int i = 0; i < count_; ++i) {
    Put const& one = puts_[i];
    all.append({one.blocks, one.to.columns(), one.partial, one.to}, across);
  }
  taken_ = count_ = 0;
  if constexpr (TeamShape<Space>::host)
    launch<"bellwether::model::add_block_sums">(
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, all.strips()), all);
  else
    add_block_sums_by_teams(exec, all);
}

template <class Real, class Stored, class Space>
void add_bias(Space const& exec, Index rows, Index columns, Real const* bias, Stored* x) {
  for_each_row("bellwether::model::add_bias", exec, rows, columns, AddBias<Real, Stored>{columns, bias, x});
}

template <class Real, class Stored, class Space>
void add_column_sums(Space const& exec, StoredRows<Stored> const& x, Index columns, BlockScratchOf<Real> const& scratch,
                     Real* sums) {
  add_column_sums<Real>(exec, x, columns, scratch, {columns, {sums}});
}

template <class Real, class Stored, class Space>
void add_column_sums(Space const& exec, StoredRows<Stored> const& x, Index apart, BlockScratchOf<Real> const& scratch,
                     ColumnSums<Real> const& to) {
  Index const rows = x.rows, stride = x.stride;
  require(to.sums[2] == nullptr, "at most two groups of columns are supported");
  constexpr char const* label = "bellwether::model::column_sums";
  scratch.sum(exec, row_blocks(rows), to, [&](Real* partial) {
    Index const columns = to.columns();
    bool done = false;
    if constexpr (has_packs<Real, Space>) {
      constexpr int wide = widest_pack<Stored>, narrow = 2;
      auto const by = [&]<int own>(std::integral_constant<int, own>) {
        if (to.count % own != 0 || apart % own != 0 || stride % own != 0 || !begin_packs<own>(x.at) ||
            !begin_packs<std::min(own, 4)>(partial))
          return false;
        sum_strips<own>(label, exec, rows, columns, partial,
                        StripOfMatrix<Stored, own>{stride, x.at, to.count, apart - to.count});
        return true;
      };
      done = by(std::integral_constant<int, wide>()) || by(std::integral_constant<int, narrow>());
    }
    if (!done)
      for_each_row(label, exec, row_blocks(rows), to.count,
                   SumBlock<Real, Stored>{rows, to.count, stride, x.at, partial, columns / to.count, apart});
  });
}

template <class Stored, class Space>
void gather_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Stored const* from, Stored* to) {
  for_each_row("bellwether::model::gather_rows", exec, count, C, GatherRow<Stored>{C, index, from, to});
}

template <class Real, class Space>
void add_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Real const* from, Real* to) {
  for_each_row("bellwether::model::add_rows", exec, count, C, AddRow<Real>{C, index, from, to});
}

#define BELLWETHER_STORED_ROWS(SPACE, REAL, STORED)                                                                  \
  template void add_bias(SPACE const&, Index, Index, REAL const*, STORED*);                                          \
  template void add_column_sums(SPACE const&, StoredRows<STORED> const&, Index, BlockScratchOf<REAL> const&, REAL*); \
  template void add_column_sums(SPACE const&, StoredRows<STORED> const&, Index, BlockScratchOf<REAL> const&,         \
                                ColumnSums<REAL> const&);                                                            \
  template void gather_rows(SPACE const&, Index, Index, std::int32_t const*, STORED const*, STORED*);
#define BELLWETHER_REAL_ROWS(SPACE, REAL)             \
  BELLWETHER_STORED_ROWS(SPACE, REAL, REAL)           \
  template void PendingSums<REAL>::add(SPACE const&); \
  template void add_rows(SPACE const&, Index, Index, std::int32_t const*, REAL const*, REAL*);
#define BELLWETHER_ROWS(SPACE)        \
  BELLWETHER_REAL_ROWS(SPACE, float)  \
  BELLWETHER_REAL_ROWS(SPACE, double) \
  BELLWETHER_STORED_ROWS(SPACE, float, bf16)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_ROWS)
template class PendingSums<float>;
template class PendingSums<double>;

}  // namespace bellwether::model
