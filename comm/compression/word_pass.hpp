// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/lane_words.hpp"
#include "comm/compression/signs.hpp"
#include "core/simd/lane_sums.hpp"
#include "core/simd/lanes.hpp"

#include <cstdint>

namespace bellwether::comm {

/// What active elements add up to: z^2, |z| and their number.
inline constexpr int sums_of_words = 3;

namespace detail {

/// What the elements of one lane add up to on a device.
struct LaneTotal {
  double squares = 0;
  double magnitudes = 0;
  std::uint32_t active = 0;
  KOKKOS_INLINE_FUNCTION void add(float z) {
    double const wide = static_cast<double>(z);
    squares += wide * wide;
    magnitudes += Kokkos::abs(wide);
  }
  KOKKOS_INLINE_FUNCTION LaneTotal& operator+=(LaneTotal const& other) {
    squares += other.squares;
    magnitudes += other.magnitudes;
    active += other.active;
    return *this;
  }
};

}  // namespace detail

/// Walks the words of a block in one pass: the elements z, +0 where masked, of word t, k < count, to source.keep(k, z),
/// and its signs, 0 where masked, to source.signs(t, word). On a host source.begin(t) comes before word t, and z =
/// source.sum(k, t, lane); on a device source.sums_of(k, t, place of k in word t, z) forms as many neighbours as z has,
/// one or four. The result is given to every thread of the team, formed in an order that depends on the block and Space
/// alone.
template <class Space, class Team, class Source>
KOKKOS_INLINE_FUNCTION Sums<sums_of_words> word_pass(Team const& team, WordBlock const& block, Index count,
                                                     Source& source) {
  if constexpr (TeamShape<Space>::host) {
    constexpr int lanes = static_cast<int>(word_elements);
    static_assert(LaneSums::lanes == lanes);
    LaneSums sums;
    std::int64_t active_elements = 0;
    for (std::int32_t t = 0; t < block.words; ++t) {
      std::uint32_t const active = source.active(t);
      active_elements += Kokkos::popcount(active);
      source.begin(t);
      Index const first = (block.word + t) * word_elements;
      std::uint32_t signs = 0;
      alignas(64) float formed[lanes];
      auto const element = [&](int lane) {
        float const z = masked(source.sum(first + lane, t, lane), active, lane);
        source.keep(first + lane, z);
        signs |= positive(z) ? lane_bit(lane) : 0u;
        formed[lane] = z;
      };
      if (first + lanes <= count) {
        BELLWETHER_INDEPENDENT
        for (int lane = 0; lane < lanes; ++lane) element(lane);
      } else {
        for (float& z : formed) z = 0;
        for (int lane = 0; first + lane < count; ++lane) element(lane);
      }
      sums.add(formed);
      source.signs(t, signs & active);
    }
    static_cast<void>(team);
    return {{sums.squares(), sums.magnitudes(), static_cast<double>(active_elements)}};
  } else {
    // Where lanes are threads, each has a total of its own, and what crosses lanes is signs alone. A thread's lanes
    // read for several groups of words before they write any.
    using L = Lanes<Space>;
    static_assert(L::count == word_elements);
    constexpr int own = LaneShare::elements, words = LaneShare::words;
    constexpr int ahead = 2;  // groups: each takes three vectors and several words into registers
    detail::LaneTotal mine;
    int const groups = (block.words + words - 1) / words;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (groups + ahead - 1) / ahead), [&](int const batch) {
      float z[ahead][L::here][own];
      std::uint32_t active[ahead][L::here];
      // body(share, t, k, how many of the lane's elements there are, at) for each lane and what it has of group i.
      auto const each_share = [&](int i, auto const& body) {
        L::all(team, [&](int const lane, int const at) {
          LaneShare const share(lane);
          int const t = (ahead * batch + i) * words + share.word;
          Index const k = (block.word + t) * word_elements + share.first;
          body(share, t, k, t < block.words ? Kokkos::min(Index{own}, count - k) : Index{0}, at);
        });
      };
      BELLWETHER_UNROLL
      for (int i = 0; i < ahead; ++i)
        each_share(i, [&](LaneShare const& share, int t, Index k, Index there, int at) {
          active[i][at] = there > 0 ? share.bits_of(source.active(t)) : 0u;
          if (there == own) {
            source.sums_of(k, t, share.first, z[i][at]);
          } else {
            BELLWETHER_UNROLL
            for (int e = 0; e < own; ++e) {
              float one[1] = {0};
              if (e < there) source.sums_of(k + e, t, share.first + e, one);
              z[i][at][e] = one[0];
            }
          }
        });
      BELLWETHER_UNROLL
      for (int i = 0; i < ahead; ++i) {
        int const first = (ahead * batch + i) * words;
        if (first >= block.words) continue;
        each_share(i, [&](LaneShare const&, int, Index k, Index there, int at) {
          float(&here)[own] = z[i][at];
          BELLWETHER_UNROLL
          for (int e = 0; e < own; ++e) {
            here[e] = masked(here[e], active[i][at], e);
            mine.add(here[e]);
          }
          mine.active += static_cast<std::uint32_t>(Kokkos::popcount(active[i][at]));
          if (there == own) {
            source.keep(k, here);
          } else {
            BELLWETHER_UNROLL
            for (int e = 0; e < own; ++e)
              if (e < there) source.keep(k + e, here[e]);
          }
        });
        write_words<Space>(
            team, [&](int const, int const at) { return signs_of(z[i][at]) & active[i][at]; },
            [&](int const word, std::uint32_t const signs) {
              if (first + word < block.words) source.signs(first + word, signs);
            });
      }
    });
    auto const total = of_all_lanes<Space>(team, mine);
    return {{total.squares, total.magnitudes, static_cast<double>(total.active)}};
  }
}

}  // namespace bellwether::comm
