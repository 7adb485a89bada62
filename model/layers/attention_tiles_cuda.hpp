// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/warp_matrix_cuda.hpp"
#include "model/layers/attention.hpp"

/// Of attention_cuda.cpp: where a team's tile of a head lies, dropout, softmax and shared memory by tiles.
namespace bellwether::model::attention_tiles {

using namespace cuda;
using device_math::power_of_two;
using Team = Kokkos::TeamPolicy<Kokkos::Cuda>::member_type;

/// What all teams are given. Of dropout also what a thread would take longer to form than to draw.
struct Params : Attention<float, bf16> {
  explicit Params(Attention<float, bf16> const& attention) : Attention<float, bf16>(attention), rule(dropout) {}

  DropoutRule<float> rule;
};

inline constexpr int extent = Tile::extent;
inline constexpr int team_threads = 128;  ///< a warp for 16 rows of a tile
inline constexpr int tile_alignment = 128;

inline int tiles(Index length) { return static_cast<int>((length + extent - 1) / extent); }

/// One tile of rows of one head of one sequence, and what belongs to it.
struct Place {
  __device__ Place(Params const& p, Team const& team, int tiles_of_head)
      : pair(team.league_rank() / tiles_of_head),
        head(pair % static_cast<int>(p.heads)),
        sequence(pair / static_cast<int>(p.heads)),
        first(p.sequence_offsets[sequence]),
        length(static_cast<int>(p.sequence_offsets[sequence + 1] - first)),
        row(team.league_rank() % tiles_of_head * extent),
        stride(3 * p.C),
        q(p.qkv + first * stride + head * extent),
        k(q + p.C),
        v(k + p.C) {}

  __device__ int rows_from(int begin) const { return length - begin < extent ? length - begin : extent; }

  int pair, head, sequence;
  Index first;
  int length;  ///< S
  int row;     ///< the tile's first
  Index stride;
  bf16 const *q, *k, *v;
};

/// Dropout's factors for a warp's 16 queries by 64 keys, as a result has them.
struct Drops {
  __device__ Drops(Params const& p, Place const& at, int first_query)
      : active(p.dropout.active()),
        draw(p.dropout, p.rule, p.samples[at.sequence], first_query + lane() / 4),
        counter(static_cast<std::uint32_t>(at.head * p.position_stride / 4) + lane() % 4 * 2) {}

  /// body(column / 8 and element of a result, what was drawn for it). A draw serves keys that are 16 apart.
  template <class Body>
  __device__ void each_drawn(int first_key, Body const& body) const {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int low = 0; low < 4; ++low) {  // which of the four columns below 16 that a lane has
        int const columns = low / 2, element = half * 2 + low % 2;
        auto const at = counter + static_cast<std::uint32_t>(first_key / 4 + 8 * columns + low % 2);
        auto const bits = philox(draw.low, draw.high, draw.position + 8u * static_cast<std::uint32_t>(half), at,
                                 draw.key.k0, draw.key.k1);
#pragma unroll
        for (int part = 0; part < 4; ++part) body(2 * part + columns, element, bits.x[part]);
      }
  }
  /// What is kept, a bit for each element of a result, for those who want it twice.
  __device__ std::uint32_t kept(int first_key) const {
    if (!active) return ~0u;
    std::uint32_t word = 0;
    each_drawn(first_key, [&](int n, int e, std::uint32_t drawn) {
      word |= drawn >= draw.rule.threshold ? 1u << (4 * n + e) : 0u;
    });
    return word;
  }
  /// Multiplies what dropout keeps and drops the rest.
  __device__ void apply(int first_key, Result& to) const {
    if (active) each_drawn(first_key, [&](int n, int e, std::uint32_t drawn) { to[n][e] *= draw.factor(drawn); });
  }

  bool active;
  DropoutDraw<float> draw;
  std::uint32_t counter;
};

/// The factor of an element where `kept` is a result's word of Drops.
__device__ inline float factor_of(std::uint32_t kept, int n, int e, DropoutRule<float> const& rule) {
  return (kept >> (4 * n + e) & 1u) != 0 ? rule.kept : 0.0f;
}

/// Which row of its two an element of a result is in.
__device__ inline constexpr int half_of(int element) { return element / 2; }

/// Keys beyond the sequence take no part in softmax.
__device__ inline void mask(Result& scores, int keys) {
  if (keys >= extent) return;
#pragma unroll
  for (int n = 0; n < 8; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (8 * n + lane() % 4 * 2 + e % 2 >= keys) scores[n][e] = -INFINITY;
}

/// Softmax of a lane's two rows, tile after tile, in powers of two: what was summed before is brought down to the
/// largest score that is known (section 2.3 there).
struct RunningSoftmax {
  float largest[2] = {-INFINITY, -INFINITY};
  float total[2] = {0, 0};  ///< this lane's part

  /// scores <- powers of two of scores - largest; decay: what sums so far are to be multiplied by.
  __device__ void add(Result& scores, float scale, float (&decay)[2]) {
    float most[2] = {largest[0], largest[1]};
#pragma unroll
    for (int n = 0; n < 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) most[half_of(e)] = fmaxf(most[half_of(e)], scores[n][e] * scale);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      most[half] = row_largest(most[half]);
      decay[half] = power_of_two(largest[half] - most[half]);
      total[half] *= decay[half];
      largest[half] = most[half];
    }
#pragma unroll
    for (int n = 0; n < 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        scores[n][e] = power_of_two(scores[n][e] * scale - largest[half_of(e)]);
        total[half_of(e)] += scores[n][e];
      }
  }
};

/// 1 / sqrt(D) and the base of powers of two.
inline constexpr float score_scale = 0.125f, log2_e = 1.44269504f;

/// Tiles of shared memory, from a multiple of tile_alignment on.
template <int count>
struct Tiles {
  static constexpr int bytes = count * Tile::bytes;
  /// together: of such teams are to fit on a multiprocessor, a bound on a thread's registers.
  template <unsigned together>
  static auto policy(Kokkos::Cuda const& exec, Index teams) {
    Kokkos::TeamPolicy<Kokkos::Cuda, Kokkos::LaunchBounds<team_threads, together>> policy(exec, static_cast<int>(teams),
                                                                                          team_threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(bytes + tile_alignment));
    return policy;
  }
  __device__ explicit Tiles(Team const& team) {
    int const size = bytes;  // taken by reference
    void const* const memory = team.team_scratch(0).get_shmem_aligned(size, tile_alignment);
    begin = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  }
  __device__ Tile operator[](int i) const { return {begin + static_cast<std::uint32_t>(i * Tile::bytes)}; }

  std::uint32_t begin;
};

}  // namespace bellwether::model::attention_tiles
