// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/rows.hpp"

#include "model/layers/column_strips.hpp"
#include "model/layers/rows_body.hpp"

#include <algorithm>
#include <type_traits>

namespace bellwether::model {

template <class Real, class Space>
void add_block_sums(Space const& exec, Index blocks, Real const* partial, ColumnSums<Real> const& to) {
  AddBlockSums<Real> const body{blocks, to.columns(), partial, to};
  if constexpr (TeamShape<Space>::host) {
    Index const strips = (body.columns + body.strip - 1) / body.strip;
    Kokkos::parallel_for("bellwether::model::add_block_sums",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, strips), body);
  } else {
    add_block_sums_by_teams(exec, body);
  }
}

template <class Real, class Stored, class Space>
void add_bias(Space const& exec, Index rows, Index columns, Real const* bias, Stored* x) {
  for_each_row("bellwether::model::add_bias", exec, rows, columns, AddBias<Real, Stored>{columns, bias, x});
}

template <class Real, class Stored, class Space>
void add_column_sums(Space const& exec, Index rows, Index columns, Index stride, Stored const* x, Real* partial,
                     Real* sums) {
  constexpr char const* label = "bellwether::model::column_sums";
  bool done = false;
  if constexpr (has_packs<Real, Space>) {
    constexpr int wide = widest_pack<Stored>, narrow = 2;
    auto const by = [&]<int own>(std::integral_constant<int, own>) {
      if (columns % own != 0 || stride % own != 0 || !begin_packs<own>(x) || !begin_packs<std::min(own, 4)>(partial))
        return false;
      sum_strips<own>(label, exec, rows, columns, partial, StripOfMatrix<Stored, own>{stride, x});
      return true;
    };
    done = by(std::integral_constant<int, wide>()) || by(std::integral_constant<int, narrow>());
  }
  if (!done)
    for_each_row(label, exec, row_blocks(rows), columns, SumBlock<Real, Stored>{rows, columns, stride, x, partial});
  add_block_sums<Real>(exec, row_blocks(rows), partial, {columns, {sums}});
}

template <class Stored, class Space>
void gather_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Stored const* from, Stored* to) {
  for_each_row("bellwether::model::gather_rows", exec, count, C, GatherRow<Stored>{C, index, from, to});
}

template <class Real, class Space>
void add_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Real const* from, Real* to) {
  for_each_row("bellwether::model::add_rows", exec, count, C, AddRow<Real>{C, index, from, to});
}

#define BELLWETHER_STORED_ROWS(SPACE, REAL, STORED)                                              \
  template void add_bias(SPACE const&, Index, Index, REAL const*, STORED*);                      \
  template void add_column_sums(SPACE const&, Index, Index, Index, STORED const*, REAL*, REAL*); \
  template void gather_rows(SPACE const&, Index, Index, std::int32_t const*, STORED const*, STORED*);
#define BELLWETHER_REAL_ROWS(SPACE, REAL)                                                  \
  BELLWETHER_STORED_ROWS(SPACE, REAL, REAL)                                                \
  template void add_block_sums(SPACE const&, Index, REAL const*, ColumnSums<REAL> const&); \
  template void add_rows(SPACE const&, Index, Index, std::int32_t const*, REAL const*, REAL*);
#define BELLWETHER_ROWS(SPACE)        \
  BELLWETHER_REAL_ROWS(SPACE, float)  \
  BELLWETHER_REAL_ROWS(SPACE, double) \
  BELLWETHER_STORED_ROWS(SPACE, float, bf16)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_ROWS)

}  // namespace bellwether::model
