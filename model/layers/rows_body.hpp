// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/row_walk.hpp"
#include "core/team_product.hpp"
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

  /// On a device: `across` columns of which every eighth block is a worker's.
  static constexpr int across = 32;
  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION void by_team(Team const& team, Real* staged) const {
    using W = Workers<Space>;
    constexpr int groups = W::count / across;
    Index const begin = Index{team.league_rank()} * across;
    W::all(team, [&](int worker, int) {
      Index const column = begin + worker % across;
      Real sum = 0;
      if (column < columns)
        for (Index block = worker / across; block < blocks; block += groups) sum += partial[block * columns + column];
      staged[worker] = sum;
    });
    W::all(team, [&](int worker, int) {
      if (worker >= across || begin + worker >= columns) return;
      Real sum = 0;
      for (int group = 0; group < groups; ++group) sum += staged[group * across + worker];
      add(begin + worker, sum);
    });
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
  auto policy = team_policy(exec, (body.columns + body.across - 1) / body.across);
  constexpr int staged = Workers<Space>::count * static_cast<int>(sizeof(Real));
  policy.set_scratch_size(0, Kokkos::PerTeam(staged));
  Kokkos::parallel_for(
      "bellwether::model::add_block_sums", policy, KOKKOS_LAMBDA(Team const& team) {
        body.template by_team<Space>(team, static_cast<Real*>(team.team_scratch(0).get_shmem(staged)));
      });
}

}  // namespace bellwether::model
