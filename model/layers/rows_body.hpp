// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/column_sum.hpp"
#include "core/row_walk.hpp"
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

/// partial(block) = the sums of a block's rows.
template <class Real, class Stored>
struct SumBlock {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index block) const {
    Real* const out = partial + block * columns;
    row.each(columns, [=](Index k) { out[k] = 0; });
    Index const end = Kokkos::min(rows, (block + 1) * row_block);
    for (Index r = block * row_block; r < end; ++r) {
      Stored const* const in = x + r * stride;
      row.each(columns, [=](Index k) { out[k] += in[k]; });
    }
  }

  Index rows, columns, stride;
  Stored const* x;
  Real* partial;
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

/// Adds what blocks have summed to where it belongs, a strip of columns an item.
template <class Real>
struct AddBlockSums {
  /// On a host: the columns of a strip side by side.
  static constexpr Index strip = 64;
  KOKKOS_INLINE_FUNCTION void operator()(Index item) const {
    Index const begin = item * strip, width = Kokkos::min(Index{strip}, columns - begin);
    Real sum[strip] = {};
    for (Index block = 0; block < blocks; ++block) {
      Real const* const in = partial + block * columns + begin;
      BELLWETHER_SIMD
      for (Index k = 0; k < width; ++k) sum[k] += in[k];
    }
    for (Index k = 0; k < width; ++k) add(begin + k, sum[k]);
  }

  /// On a device: a strip of ColumnTeam's a team.
  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION void by_team(Team const& team) const {
    using Columns = ColumnTeam<Space>;
    Index const begin = Index{team.league_rank()} * Columns::across;
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

template <class Real, class Space>
void add_block_sums_by_teams(Space const& exec, AddBlockSums<Real> const& body) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  constexpr Index across = ColumnTeam<Space>::across;
  Kokkos::parallel_for(
      "bellwether::model::add_block_sums",
      ColumnTeam<Space>::template policy<Real>(exec, (body.columns + across - 1) / across),
      KOKKOS_LAMBDA(Team const& team) { body.template by_team<Space>(team); });
}

}  // namespace bellwether::model
