// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/warp_matrix.hpp"
#include "core/simd/bits.hpp"
#include "model/layers/attention.hpp"

/// Parts of attention_tile_kernels.hpp: addresses of tiles, dropout, softmax and shared memory.
namespace bellwether::model::attention_tiles {

using device_math::power_of_two;

/// Arguments of all teams. Contains the DropoutRule, because a thread needs longer to compute it than to draw.
struct Params : Attention<float, bf16> {
  explicit Params(Attention<float, bf16> const& attention) : Attention<float, bf16>(attention), rule(dropout) {}

  DropoutRule<float> rule;
};

inline constexpr float infinity = Kokkos::Experimental::infinity_v<float>;
inline constexpr int extent = Tile::extent;
inline constexpr int team_threads = 128;  ///< one warp for 16 rows of a tile
inline constexpr int tile_alignment = 128;

inline int tiles(Index length) { return static_cast<int>((length + extent - 1) / extent); }

/// One tile of rows of one head of one sequence: its position and the addresses of its data.
struct Place {
  template <class Team>
  BELLWETHER_DEVICE Place(Params const& p, Team const& team, int tiles_of_head)
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

  BELLWETHER_DEVICE int rows_from(int begin) const { return length - begin < extent ? length - begin : extent; }

  int pair, head, sequence;
  Index first;
  int length;  ///< S
  int row;     ///< first row of the tile
  Index stride;
  bf16 const *q, *k, *v;
};

/// Returns the bit of a Drops word that belongs to an element of a result.
BELLWETHER_DEVICE constexpr int bit_of(int n, int e) { return 4 * n + e; }

/// Dropout factors of a warp's 16 queries and 64 keys, in the register order of a result.
struct Drops {
  BELLWETHER_DEVICE Drops(Params const& p, Place const& at, int first_query, int lane)
      : active(p.dropout.active()),
        draw(p.dropout, p.rule, p.samples[at.sequence], first_query + lane / 4),
        counter(static_cast<std::uint32_t>(at.head * p.position_stride / 4 + lane % 4 * 2)) {}

  /// Calls body(column / 8, element of a result, random number) for each element. One draw serves keys that are 16
  /// apart.
  template <class Body>
  BELLWETHER_DEVICE void each_drawn(int first_key, Body const& body) const {
    BELLWETHER_UNROLL
    for (int which = 0; which < 8; ++which) {
      int const half = which / 4,
                low = which % 4;  // half: of the two rows of a lane; low: of its four columns below 16
      int const columns = low / 2, element = half * 2 + low % 2;
      auto const at = counter + static_cast<std::uint32_t>(first_key / 4 + 8 * columns + low % 2);
      auto const bits = philox(draw.low, draw.high, draw.position + 8u * static_cast<std::uint32_t>(half), at,
                               draw.key.k0, draw.key.k1);
      BELLWETHER_UNROLL
      for (int part = 0; part < 4; ++part) body(2 * part + columns, element, bits.x[part]);
    }
  }
  /// Returns a bit for each element of a result: 1 if dropout keeps it. For use by a second kernel.
  BELLWETHER_DEVICE std::uint32_t kept(int first_key) const {
    if (!active) return ~0u;
    std::uint32_t word = 0;
    each_drawn(first_key, [&](int n, int e, std::uint32_t drawn) {
      word |= drawn >= draw.rule.threshold ? 1u << bit_of(n, e) : 0u;
    });
    return word;
  }
  /// Multiplies the elements of a result by their dropout factors.
  BELLWETHER_DEVICE void apply(int first_key, Result& to) const {
    if (active) each_drawn(first_key, [&](int n, int e, std::uint32_t drawn) { to[n][e] *= draw.factor(drawn); });
  }

  bool active;
  DropoutDraw<float> draw;
  std::uint32_t counter;
};

/// Returns the dropout factor of the element that bit `bit` of a Drops word belongs to.
BELLWETHER_DEVICE float factor_of(std::uint32_t kept, int bit, DropoutRule<float> const& rule) {
  return (kept >> bit & 1u) != 0 ? rule.kept : 0.0f;
}

/// Returns which of a lane's two rows contains an element of a result.
BELLWETHER_DEVICE constexpr int half_of(int element) { return element / 2; }

/// Excludes keys beyond the end of the sequence from the softmax.
BELLWETHER_DEVICE void mask(Result& scores, int keys, int lane) {
  if (keys >= extent) return;
  each_element([&](int n, int e) {
    if (8 * n + lane % 4 * 2 + e % 2 >= keys) scores[n][e] = -infinity;
  });
}

/// Softmax of a lane's two rows, computed tile after tile with powers of two. Earlier sums are rescaled whenever a tile
/// contains a larger score (section 2.3 of FlashAttention-2).
template <class Warp>
struct RunningSoftmax {
  float largest[2] = {-infinity, -infinity};
  float total[2] = {0, 0};  ///< sum over this lane's columns

  /// scores <- 2^(scores * scale - largest). decay: the factor by which earlier sums must be multiplied.
  BELLWETHER_DEVICE void add(Result& scores, float scale, float (&decay)[2]) {
    float most[2] = {largest[0], largest[1]};
    each_element([&](int n, int e) { most[half_of(e)] = Kokkos::fmax(most[half_of(e)], scores[n][e] * scale); });
    BELLWETHER_UNROLL
    for (int half = 0; half < 2; ++half) {
      most[half] = row_largest<Warp>(most[half]);
      decay[half] = power_of_two(largest[half] - most[half]);
      total[half] *= decay[half];
      largest[half] = most[half];
    }
    each_element([&](int n, int e) {
      scores[n][e] = power_of_two(scores[n][e] * scale - largest[half_of(e)]);
      total[half_of(e)] += scores[n][e];
    });
  }
};

/// 1 / sqrt(D), and the factor from natural to binary logarithms.
inline constexpr float score_scale = 0.125f, log2_e = 1.44269504f;

/// The logarithm and the row sum of each query of a tile, in shared memory.
struct QueryNumbers {
  static constexpr int bytes = extent * 8;

  template <class Warp>
  BELLWETHER_DEVICE void write(Warp, int query, float logarithm, float row_sum) const {
    std::uint32_t const at = begin + static_cast<std::uint32_t>(8 * query);
    Warp::write(at, to_bits(logarithm));
    Warp::write(at + 4, to_bits(row_sum));
  }
  /// Reads the numbers of an even query and of the next one.
  template <class Warp>
  BELLWETHER_DEVICE void read(Warp, int query, float (&logarithm)[2], float (&row_sum)[2]) const {
    Piece const pair = Warp::read_piece(begin + static_cast<std::uint32_t>(8 * query));
    BELLWETHER_UNROLL
    for (int i = 0; i < 2; ++i) {
      logarithm[i] = from_bits(pair.words[2 * i]);
      row_sum[i] = from_bits(pair.words[2 * i + 1]);
    }
  }

  std::uint32_t begin;
};

/// Shared memory of a team: tiles, aligned to tile_alignment, then the query numbers of two tiles.
struct SharedTiles {
  static constexpr int count = 5, bytes = count * Tile::bytes + 2 * QueryNumbers::bytes;
  static constexpr int scratch_bytes = bytes + tile_alignment;
  // 48 KiB of shared memory a team exist on every GPU; Kokkos uses a part of it.
  static_assert(scratch_bytes + 2048 <= 48 * 1024);

  template <class Warp, class Team>
  BELLWETHER_DEVICE SharedTiles(Warp, Team const& team) {
    int const size = bytes;  // a copy: the call takes it by reference
    void const* const memory = team.team_scratch(0).get_shmem_aligned(size, tile_alignment);
    begin = Warp::address_of(memory);
  }
  BELLWETHER_DEVICE Tile operator[](int i) const { return {begin + static_cast<std::uint32_t>(i * Tile::bytes)}; }
  BELLWETHER_DEVICE QueryNumbers numbers(int turn) const {
    return {begin + static_cast<std::uint32_t>(count * Tile::bytes + turn * QueryNumbers::bytes)};
  }

  std::uint32_t begin;
};

}  // namespace bellwether::model::attention_tiles
