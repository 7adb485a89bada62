// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/lane_words.hpp"
#include "comm/compression/signs.hpp"
#include "core/simd/lane_sums.hpp"
#include "core/simd/lanes.hpp"

#include <cstdint>

namespace bellwether::comm {

/// Number of sums over active elements: z^2, |z| and their count.
inline constexpr int sums_of_words = 3;

namespace detail {

/// The sums of one lane's elements on a device.
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

/// Takes the signs and the sums of a block in one pass. It hands the elements z of word t, k < count, +0 for masked
/// ones, to source.keep(k, z), and their signs, 0 for masked ones, to source.signs(t, word). On a host it calls
/// source.begin(t) before word t, and z = source.sum(k, t, lane). On a device, source.sums_of(k, t, position of k in
/// word t, z) fills z with one or four neighbours. Every thread of the team gets the result; the order of summation
/// depends only on the block and Space.
template <class Space, class Team, class Source>
KOKKOS_INLINE_FUNCTION Sums<sums_of_words> signs_and_sums(Team const& team, WordBlock const& block, Index count,
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
    // On devices, each lane (a thread) keeps its own totals; lanes exchange only signs. A thread reads `ahead` groups
    // of words before it writes any, to have more loads in flight.
    using L = Lanes<Space>;
    static_assert(L::count == word_elements);
    constexpr int own = LaneShare::elements, words = LaneShare::words;
    constexpr int ahead = 2;  // groups of words; each holds three vectors and several words in registers
    detail::LaneTotal mine;
    int const groups = (block.words + words - 1) / words;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (groups + ahead - 1) / ahead), [&](int const batch) {
      float z[ahead][L::here][own];
      std::uint32_t active[ahead][L::here];
      // Calls body(share, t, k, number of the lane's elements inside the vector, at) for each lane's share of group i.
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
