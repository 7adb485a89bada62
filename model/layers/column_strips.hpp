// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/team_sum.hpp"
#include "core/simd/pack.hpp"
#include "model/layers/rows.hpp"

/// Sums over rows for devices: a thread sums adjacent columns of a block of rows in registers.
namespace bellwether::model {

/// Number of rows that a thread reads before it writes any of them. Remaining rows of a block are handled one by one.
inline constexpr int strip_rows = 4;

template <class Body, int own, class Space>
struct StripKernel {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  static constexpr int threads = TeamShape<Space>::on_host ? 1 : 128;

  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    Index const block = team.league_rank() / strips;
    Index const k = (team.league_rank() % strips * threads + team.team_rank()) * own;
    if (k >= columns) return;
    Index const end = Kokkos::min(rows, (block + 1) * row_block);
    float sums[own] = {};
    Index r = block * row_block;
    for (; r + strip_rows <= end; r += strip_rows) add<strip_rows>(r, k, sums);
    for (; r < end; ++r) add<1>(r, k, sums);
    constexpr int stored = own < 4 ? own : 4;
    BELLWETHER_UNROLL
    for (int i = 0; i < own; i += stored) {
      float some[stored];
      BELLWETHER_UNROLL
      for (int j = 0; j < stored; ++j) some[j] = sums[i + j];
      store(partial + block * columns + k + i, some);
    }
  }

  template <int count>
  KOKKOS_INLINE_FUNCTION void add(Index r, Index k, float (&sums)[own]) const {
    float terms[count][own];
    body.read(r, k, terms);
    BELLWETHER_UNROLL
    for (auto const& row : terms) {
      BELLWETHER_UNROLL
      for (int i = 0; i < own; ++i) sums[i] += row[i];
    }
  }

  Body body;
  Index rows, columns, strips;
  float* partial;
};

/// partial(block, k) = sum over the rows of a block. For each group of rows, body.read(first row, k, terms) fills
/// `terms` (rows at once, own) with columns [k, k + own). `columns`: a multiple of `own`. `partial`: (row_blocks(rows),
/// columns).
template <int own, class Body, class Space>
void sum_strips(char const* label, Space const& exec, Index rows, Index columns, float* partial, Body const& body) {
  using Kernel = StripKernel<Body, own, Space>;
  constexpr Index width = own * Kernel::threads;
  Index const strips = (columns + width - 1) / width;
  Kokkos::parallel_for(label,
                       Kokkos::TeamPolicy<Space>(exec, static_cast<int>(row_blocks(rows) * strips), Kernel::threads),
                       Kernel{body, rows, columns, strips, partial});
}

/// Reads the terms of add_column_sums(). Columns from `count` on are `gap` elements further on.
template <class Stored, int own>
struct StripOfMatrix {
  template <int rows>
  KOKKOS_INLINE_FUNCTION void read(Index r, Index k, float (&terms)[rows][own]) const {
    Stored const* const first = x + r * stride + k + (k < count ? 0 : gap);
    BELLWETHER_UNROLL
    for (int i = 0; i < rows; ++i) load(first + i * stride, terms[i]);
  }

  Index stride;
  Stored const* x;
  Index count, gap;
};

/// Computes the terms of bias_gelu_backward() and writes dpre.
template <class Gelu, class Stored, class Given, int own>
struct StripOfGelu {
  template <int rows>
  KOKKOS_INLINE_FUNCTION void read(Index r, Index k, float (&terms)[rows][own]) const {
    Index const first = r * F + k;
    float at[rows][own];
    BELLWETHER_UNROLL
    for (int i = 0; i < rows; ++i) {
      load(pre + first + i * F, at[i]);
      load(dy + first + i * F, terms[i]);
    }
    BELLWETHER_UNROLL
    for (int i = 0; i < rows; ++i) {
      BELLWETHER_UNROLL
      for (int j = 0; j < own; ++j) terms[i][j] *= Gelu::slope(at[i][j]);
      store(dpre + first + i * F, terms[i]);
    }
  }

  Index F;
  Stored const* pre;
  Given const* dy;
  Stored* dpre;
};

}  // namespace bellwether::model
