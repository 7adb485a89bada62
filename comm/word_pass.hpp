// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/lane_votes.hpp"
#include "comm/signs.hpp"
#include "core/lane_sums.hpp"
#include "core/lanes.hpp"

#include <cstdint>

namespace bellwether::comm {

/// What live elements add up to: z^2, |z| and their number.
inline constexpr int sums_of_words = 3;

namespace detail {

/// What the elements of one lane add up to on a device, where a thread takes an element of every word.
struct LaneTotal {
  double squares = 0;
  double magnitudes = 0;
  std::uint32_t live = 0;
  KOKKOS_INLINE_FUNCTION LaneTotal& operator+=(LaneTotal const& other) {
    squares += other.squares;
    magnitudes += other.magnitudes;
    live += other.live;
    return *this;
  }
};

}  // namespace detail
}  // namespace bellwether::comm

template <>
struct Kokkos::reduction_identity<bellwether::comm::detail::LaneTotal> {
  KOKKOS_FORCEINLINE_FUNCTION static bellwether::comm::detail::LaneTotal sum() { return {}; }
};

namespace bellwether::comm {

/// Walks the words of a block in one pass: source.begin(t) before word t, z = source.sum(k, t, lane) for its elements
/// k < count, +0 where dead, to source.keep(k, z), and its signs, 0 where dead, to source.signs(t, word). The result is
/// given to every thread of the team, formed in an order that depends on the block and Space alone.
template <class Space, class Team, class Source>
KOKKOS_INLINE_FUNCTION Sums<sums_of_words> word_pass(Team const& team, WordBlock const& block, Index count,
                                                     Source& source) {
  if constexpr (TeamShape<Space>::host) {
    constexpr int lanes = static_cast<int>(word_elements);
    static_assert(LaneSums::lanes == lanes);
    LaneSums sums;
    std::int64_t live_elements = 0;
    for (std::int32_t t = 0; t < block.words; ++t) {
      std::uint32_t const live = source.live(t);
      live_elements += Kokkos::popcount(live);
      source.begin(t);
      Index const first = (block.word + t) * word_elements;
      std::uint32_t signs = 0;
      alignas(64) float formed[lanes];
      auto const element = [&](int lane) {
        float const z = masked(source.sum(first + lane, t, lane), live, lane);
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
      source.signs(t, signs & live);
    }
    static_cast<void>(team);
    return {{sums.squares(), sums.magnitudes(), static_cast<double>(live_elements)}};
  } else {
    // Where lanes are threads, each has a total of its own, and what crosses lanes within a word is its signs alone. A
    // thread's lanes read for several words before they write any.
    using L = Lanes<Space>;
    static_assert(L::count == word_elements);
    constexpr int ahead = loads_ahead;
    detail::LaneTotal mine;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (block.words + ahead - 1) / ahead), [&](int const batch) {
      float z[ahead][L::here];
      std::uint32_t live[ahead];
      BELLWETHER_UNROLL
      for (int i = 0; i < ahead; ++i) live[i] = ahead * batch + i < block.words ? source.live(ahead * batch + i) : 0u;
      Index const begin = block.word + ahead * batch;
      bool const whole = ahead * (batch + 1) <= block.words && (begin + ahead) * word_elements <= count;
      L::all(team, [&](int lane, int mine_of_lane) {
        auto const form = [&](int i) {
          return masked(source.sum((begin + i) * word_elements + lane, ahead * batch + i, lane), live[i], lane);
        };
        if (whole) {
          BELLWETHER_UNROLL
          for (int i = 0; i < ahead; ++i) z[i][mine_of_lane] = form(i);
        } else {
          for (int i = 0; i < ahead; ++i) {
            bool const there = ahead * batch + i < block.words && (begin + i) * word_elements + lane < count;
            z[i][mine_of_lane] = there ? form(i) : 0.0f;
          }
        }
      });
      BELLWETHER_UNROLL
      for (int i = 0; i < ahead; ++i) {
        std::int32_t const t = ahead * batch + i;
        if (t >= block.words) continue;
        Index const first = (block.word + t) * word_elements;
        // Elements beyond the end are 0, and no bit of theirs is live.
        std::uint32_t const signs = word_of_lanes(team, [&](int const lane) {
          float const value = z[i][L::mine(lane)];
          if (whole || first + lane < count) source.keep(first + lane, value);
          mine.squares += static_cast<double>(value) * static_cast<double>(value);
          mine.magnitudes += static_cast<double>(Kokkos::abs(value));
          mine.live += (live[i] & lane_bit(lane)) != 0 ? 1 : 0;
          return positive(value);
        });
        L::once(team, [&] { source.signs(t, signs & live[i]); });
      }
    });
    detail::LaneTotal total;
    constexpr int lanes = TeamShape<Space>::on_host ? 1 : static_cast<int>(word_elements);
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, team.team_size() * lanes), [&](int, detail::LaneTotal& sum) { sum += mine; },
        total);
    return {{total.squares, total.magnitudes, static_cast<double>(total.live)}};
  }
}

/// A team for each of `blocks` blocks, with the shape that word_pass wants.
template <class Space>
Kokkos::TeamPolicy<Space> block_policy(Space const& exec, Index blocks) {
  constexpr int threads = TeamShape<Space>::threads, lanes = static_cast<int>(word_elements);
  if constexpr (TeamShape<Space>::host)
    return {exec, static_cast<int>(blocks), threads};
  else
    return {exec, static_cast<int>(blocks), threads > lanes ? threads / lanes : 1, lanes};
}

}  // namespace bellwether::comm
