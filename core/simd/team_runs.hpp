// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/team_sum.hpp"
#include "core/simd/lane_sums.hpp"
#include "core/simd/pack_access.hpp"

#include <type_traits>
#include <utility>

namespace bellwether {

namespace detail {

/// Calls take(lane, run(lane)), or only run(lane) if it returns void.
template <class Run, class Take>
KOKKOS_FORCEINLINE_FUNCTION void give_run(Run const& run, int lane, Take const& take) {
  if constexpr (std::is_void_v<decltype(run(lane))>)
    run(lane);
  else
    take(lane, run(lane));
}

/// Processes the run of at most `lanes` elements that starts at k and ends before `last`. There is only one call of
/// run_of: with two, compilers do not inline it, and its result goes through memory.
template <int lanes, class RunOf, class Take>
KOKKOS_FORCEINLINE_FUNCTION void one_run(Index k, Index last, RunOf const& run_of, Take const& take) {
  int const count = k + lanes <= last ? lanes : static_cast<int>(last - k);
  auto const run = run_of(InMemory(), k, count);
  if (count == lanes) {
    BELLWETHER_INDEPENDENT
    for (int lane = 0; lane < lanes; ++lane) give_run(run, lane, take);
  } else {
    for (int lane = 0; lane < count; ++lane) give_run(run, lane, take);
  }
}

/// Device version: a thread holds four neighbours in registers if they are aligned for a pack, else one element.
template <class Space, class Team, class RunOf, class Take>
KOKKOS_FORCEINLINE_FUNCTION void runs_of_thread(Team const& team, Index first, Index last, RunOf const& run_of,
                                                Take const& take) {
  constexpr Index threads = TeamShape<Space>::threads, own = InRegisters::count;
  Index k = first;
  if (first % own == 0) {
    k = last - (last - first) % own;
    for (Index at = first + team.team_rank() * own; at < k; at += threads * own) {
      auto const run = run_of(InRegisters(), at, static_cast<int>(own));
      BELLWETHER_UNROLL
      for (int lane = 0; lane < own; ++lane) give_run(run, lane, take);
    }
  }
  for (k += team.team_rank(); k < last; k += threads) one_run<1>(k, last, run_of, take);
}

}  // namespace detail

/// Terms of one element: N numbers whose squares are summed, and a number >= 0 whose maximum is taken.
template <int N>
struct Terms {
  float value[N];
  float largest;
};

/// Returns sums of squares, in double, and the maximum over elements [first, last), for neighbours that share data.
/// It calls run_of(InMemory() or InRegisters(), k, count) once per run of `count` elements from k on, at most
/// TeamShape<Space>::lanes or InRegisters::count. Its result, run(lane), returns the Terms<N> of each element.
/// Terms are floats, so that a host thread keeps the sums in registers. The order of summation depends only on
/// [first, last) and Space.
template <int N, class Space, class Team, class RunOf>
KOKKOS_INLINE_FUNCTION SumsAndLargest<N> team_squares_of_runs(Team const& team, Index first, Index last,
                                                              RunOf const& run_of) {
  SumsAndLargest<N> result{};
  if constexpr (TeamShape<Space>::host) {
    constexpr int lanes = TeamShape<Space>::lanes;
    static_assert(LaneSquares::lanes == lanes);
    static_cast<void>(team);
    LaneSquares sums[N];
    alignas(64) float terms[N][lanes], largest[lanes] = {};
    auto const keep = [&](int lane, Terms<N> const& term) {
      for (int i = 0; i < N; ++i) terms[i][lane] = term.value[i];
      largest[lane] = largest[lane] < term.largest ? term.largest : largest[lane];
    };
    for (Index k = first; k < last; k += lanes) {
      if (k + lanes > last)
        for (auto& of_lanes : terms)
          for (float& term : of_lanes) term = 0;
      detail::one_run<lanes>(k, last, run_of, keep);
      // Unrolled in the source, because a loop would not keep the sums in registers.
      [&]<int... i>(std::integer_sequence<int, i...>) { (sums[i].add(terms[i]), ...); }
      (std::make_integer_sequence<int, N>{});
    }
    for (int i = 0; i < N; ++i) result.value[i] = sums[i].squares();
    for (float const number : largest)
      result.largest = result.largest < static_cast<double>(number) ? static_cast<double>(number) : result.largest;
    return result;
  } else {
    float largest = 0;
    detail::runs_of_thread<Space>(team, first, last, run_of, [&](int, Terms<N> const& term) {
      for (int i = 0; i < N; ++i) result.value[i] += static_cast<double>(term.value[i]) * term.value[i];
      largest = largest < term.largest ? term.largest : largest;
    });
    result.largest = static_cast<double>(largest);
    return detail::of_all_threads<Space>(team, result);
  }
}

/// Calls run(lane) for every element of [first, last), with run_of as in team_squares_of_runs(). The calls must
/// touch different elements.
template <class Space, class Team, class RunOf>
KOKKOS_INLINE_FUNCTION void team_for_runs(Team const& team, Index first, Index last, RunOf const& run_of) {
  auto const made = [](int, auto&&...) {};
  if constexpr (TeamShape<Space>::host) {
    constexpr int lanes = TeamShape<Space>::lanes;
    for (Index k = first; k < last; k += lanes) detail::one_run<lanes>(k, last, run_of, made);
  } else {
    detail::runs_of_thread<Space>(team, first, last, run_of, made);
  }
}

}  // namespace bellwether
