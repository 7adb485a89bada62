// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/team_sum.hpp"
#include "core/simd/pack.hpp"
#include "core/space.hpp"

#include <cstdint>
#include <type_traits>

namespace bellwether {

/// A thread of a team as 32 lanes. On a device it is a warp; on a host, one thread runs all lanes in turn. To keep a
/// value per lane between two calls of all(), use an array of `here` elements and index it with `mine`.
template <class Space>
struct Lanes {
  static constexpr int count = native::lanes;
  static constexpr int here = TeamShape<Space>::on_host ? count : 1;  ///< lanes that one thread runs

  /// Returns a lane's index in such an array.
  KOKKOS_INLINE_FUNCTION static int mine(int lane) { return here == 1 ? 0 : lane; }
  /// Calls body(lane, mine) for each lane.
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION static void all(Team const& team, Body const& body) {
    native::each_lane(team, [&](int const lane) { body(lane, mine(lane)); });
  }
  /// Calls body() once.
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION static void once(Team const& team, Body const& body) {
    native::once(team, body);
  }
};

/// Returns the policy of `teams` teams of Lanes threads. On a device a team has as many lanes as other teams have
/// threads.
template <class Space>
Kokkos::TeamPolicy<Space> lanes_policy(Space const& exec, Index teams) {
  constexpr int threads = TeamShape<Space>::threads, lanes = Lanes<Space>::count;
  if constexpr (TeamShape<Space>::host)
    return {exec, static_cast<int>(teams), threads};
  else
    return {exec, static_cast<int>(teams), threads > lanes ? threads / lanes : 1, lanes};
}

/// Broadcasts the word of lane `from` to all lanes.
template <class Space, class Team>
KOKKOS_INLINE_FUNCTION std::uint32_t word_of_lane(Team const& team, std::uint32_t const (&words)[Lanes<Space>::here],
                                                  int from) {
  return native::word_of_lane(team, words, from);
}

/// Combines the values of a team of lanes_policy() with += and returns the result to all. `mine`: one value per lane if
/// lanes are threads, else one per thread.
template <class Space, class Team, class Total>
KOKKOS_INLINE_FUNCTION Total of_all_lanes(Team const& team, Total const& mine) {
  constexpr int lanes = TeamShape<Space>::on_host ? 1 : Lanes<Space>::count;
  Total all{};
  Kokkos::parallel_reduce(
      Kokkos::TeamVectorRange(team, team.team_size() * lanes), [&](int, Total& sum) { sum += mine; }, all);
  return all;
}

/// Returns to all lanes a word with bit `lane` = vote(lane). vote is called once per lane; where lanes are
/// threads, by the lane itself.
template <class Team, class Vote>
KOKKOS_INLINE_FUNCTION std::uint32_t ballot(Team const& team, Vote const& vote) {
  return native::ballot(team, vote);
}

/// Returns the sum over lanes of part(lane) to all lanes.
template <class Team, class Part>
KOKKOS_INLINE_FUNCTION float sum_of_lanes(Team const& team, Part const& part) {
  return native::sum_of_lanes(team, part);
}

/// A team as workers: the 32 lanes of each of its threads. On a device there are as many warps as the team has threads;
/// on a host, one thread runs all workers in turn.
template <class Space, int most_warps>
struct TeamLanes {
  static constexpr int lanes = Lanes<Space>::count;
  static constexpr int warps_here = TeamShape<Space>::on_host ? most_warps : 1;  ///< warps that one thread runs
  static constexpr int here = warps_here * Lanes<Space>::here;

  int warps;  ///< warps of the team

  /// Calls body(worker, mine) for each worker; `mine` as in Lanes.
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION void all(Team const& team, Body const& body) const {
    each_warp(team, [&](int warp, int first) {
      Lanes<Space>::all(team, [&](int lane, int mine) { body(warp * lanes + lane, first + mine); });
    });
  }
  /// Calls body(warp, index of its first lane in arrays of `here` elements).
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION void each_warp(Team const& team, Body const& body) const {
    if constexpr (warps_here == 1)
      body(team.team_rank(), 0);
    else
      for (int warp = 0; warp < warps; ++warp) body(warp, warp * lanes);
  }
  /// totals[i] = sum over all workers of parts[mine][i], returned to all. `staged`: (most_warps, N) numbers of team
  /// scratch, aligned for packs of N; must differ from the buffer of the previous call.
  template <int N, class Team>
  KOKKOS_INLINE_FUNCTION void sum(Team const& team, float const (&parts)[here][N], float* staged,
                                  float (&totals)[N]) const {
    each_warp(team, [&](int warp, int first) {
      float sums[N];
      BELLWETHER_UNROLL
      for (int i = 0; i < N; ++i)
        sums[i] = sum_of_lanes(team, [&](int lane) { return parts[first + Lanes<Space>::mine(lane)][i]; });
      Lanes<Space>::once(team, [&] { store(staged + warp * N, sums); });
    });
    team.team_barrier();
    BELLWETHER_UNROLL
    for (int i = 0; i < N; ++i) totals[i] = 0;
    // Loops over most_warps: a loop up to `warps` could not be unrolled.
    BELLWETHER_UNROLL
    for (int warp = 0; warp < most_warps; ++warp) {
      float sums[N];
      load(staged + warp * N, sums);
      BELLWETHER_UNROLL
      for (int i = 0; i < N; ++i) totals[i] += warp < warps ? sums[i] : 0.0f;
    }
  }
};

}  // namespace bellwether
