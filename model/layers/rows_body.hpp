// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/launch.hpp"
#include "core/simd/column_sum.hpp"
#include "core/simd/row_walk.hpp"
#include "model/layers/rows.hpp"

/// Bodies of the kernels of rows.hpp, for for_each_row().
namespace bellwether::model {

template <class Real, class Stored>
struct AddBias {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index r) const {
    Stored* const out = x + r * columns;
    Real const* const added = bias;
    row.each(columns, [=](Index k) { out[k] = Stored(out[k] + added[k]); });
  }

  Index columns;
  Real const* bias;
  Stored* x;
};

/// partial(block) = the column sums of a block's rows, for `groups` groups of columns that begin `apart` elements after
/// each other.
template <class Real, class Stored>
struct SumBlock {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index block) const {
    Index const end = Kokkos::min(rows, (block + 1) * row_block);
    for (Index group = 0; group < groups; ++group) {
      Real* const out = partial + (block * groups + group) * columns;
      row.each(columns, [=](Index k) { out[k] = 0; });
      for (Index r = block * row_block; r < end; ++r) {
        Stored const* const in = x + r * stride + group * apart;
        row.each(columns, [=](Index k) { out[k] += in[k]; });
      }
    }
  }

  Index rows, columns, stride;
  Stored const* x;
  Real* partial;
  Index groups = 1, apart = 0;
};

template <class Stored>
struct GatherRow {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index i) const {
    Stored const* const source = from + index[i] * C;
    Stored* const target = to + i * C;
    row.each(C, [=](Index k) { target[k] = source[k]; });
  }

  Index C;
  std::int32_t const* index;
  Stored const* from;
  Stored* to;
};

template <class Real>
struct AddRow {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index i) const {
    Real const* const source = from + i * C;
    Real* const target = to + index[i] * C;
    row.each(C, [=](Index k) { target[k] += source[k]; });
  }

  Index C;
  std::int32_t const* index;
  Real const* from;
  Real* to;
};

/// Adds partial sums over blocks to their destination, by strips of columns.
template <class Real>
struct AddBlockSums {
  /// For hosts: adds the columns of a strip side by side.
  static constexpr Index strip = 64;
  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    Index const begin = at * strip, width = Kokkos::min(Index{strip}, columns - begin);
    Real sum[strip] = {};
    for (Index block = 0; block < blocks; ++block) {
      Real const* const in = partial + block * columns + begin;
      BELLWETHER_SIMD
      for (Index k = 0; k < width; ++k) sum[k] += in[k];
    }
    for (Index k = 0; k < width; ++k) add(begin + k, sum[k]);
  }

  /// For devices: one strip of ColumnTeam for each team.
  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION void by_team(Team const& team, Index at) const {
    using Columns = ColumnTeam<Space>;
    Index const begin = at * Columns::across;
    int const width = static_cast<int>(Kokkos::min(Index{Columns::across}, columns - begin));
    Columns::sum(
        team, blocks, width, Columns::template staged<Real>(team),
        [&](Index block, int column) { return partial[block * columns + begin + column]; },
        [&](int column, Real sum) { add(begin + column, sum); });
  }

  KOKKOS_INLINE_FUNCTION void add(Index column, Real sum) const {
    to.sums[column / to.count][column % to.count] += sum;
  }

  Index blocks, columns;
  Real const* partial;
  ColumnSums<Real> to;
};

/// AddBlockSums for several destinations; their strips are numbered consecutively.
template <class Real>
struct AddAllBlockSums {
  static constexpr int most = PendingSums<Real>::most;

  /// across: columns in a strip.
  void append(AddBlockSums<Real> const& one, Index across) {
    each[count] = one;
    ends[count] = strips() + (one.columns + across - 1) / across;
    ++count;
  }
  Index strips() const { return count == 0 ? 0 : ends[count - 1]; }

  /// Calls act(destination, its strip) for a strip of the common numbering.
  template <class Act>
  KOKKOS_INLINE_FUNCTION void with(Index strip, Act const& act) const {
    int which = 0;
    while (strip >= ends[which]) ++which;
    act(each[which], strip - (which == 0 ? 0 : ends[which - 1]));
  }
  KOKKOS_INLINE_FUNCTION void operator()(Index strip) const {
    with(strip, [](AddBlockSums<Real> const& one, Index at) { one(at); });
  }

  int count = 0;
  AddBlockSums<Real> each[most];
  Index ends[most];
};

template <class Real, class Space>
void add_block_sums_by_teams(Space const& exec, AddAllBlockSums<Real> const& all) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  launch<"bellwether::model::add_block_sums">(
      ColumnTeam<Space>::template policy<Real>(exec, all.strips()), KOKKOS_LAMBDA(Team const& team) {
        all.with(team.league_rank(),
                 [&](AddBlockSums<Real> const& one, Index at) { one.template by_team<Space>(team, at); });
      });
}

}  // namespace bellwether::model
