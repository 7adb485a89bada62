// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/team_sum.hpp"
#include "core/simd/pack.hpp"

#include <cstdint>
#include <type_traits>

namespace bellwether {

/// A thread of a team as 32 lanes, which meet in sums: on a device a warp, on a host one thread that does the work of
/// all in turn. What a lane keeps from one all() to the next is element `mine` of an array of `here`.
template <class Space>
struct Lanes {
  static constexpr int count = 32;
  static constexpr int here = TeamShape<Space>::on_host ? count : 1;  ///< lanes that the code of one runs for

  /// Which element of such an array is a lane's.
  KOKKOS_INLINE_FUNCTION static int mine(int lane) { return here == 1 ? 0 : lane; }
  /// body(lane, mine)
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION static void all(Team const& team, Body const& body) {
#if defined(__CUDA_ARCH__)
    // A range over lanes is a loop, by a stride that the compiler does not know, whose arrays would be in memory.
    static_cast<void>(team);
    body(static_cast<int>(threadIdx.x), 0);
#else
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), [&](int const lane) { body(lane, mine(lane)); });
#endif
  }
  /// body(), once.
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION static void once(Team const& team, Body const& body) {
#if defined(__CUDA_ARCH__)
    // No lane waits for what nobody but this one touches, as those of a single() do, in fifty instructions.
    static_cast<void>(team);
    if (threadIdx.x == 0) body();
#else
    Kokkos::single(Kokkos::PerThread(team), body);
#endif
  }
};

/// A team for each of `teams` items: on a device threads of 32 lanes, as many lanes as other teams have threads.
template <class Space>
Kokkos::TeamPolicy<Space> lanes_policy(Space const& exec, Index teams) {
  constexpr int threads = TeamShape<Space>::threads, lanes = Lanes<Space>::count;
  if constexpr (TeamShape<Space>::host)
    return {exec, static_cast<int>(teams), threads};
  else
    return {exec, static_cast<int>(teams), threads > lanes ? threads / lanes : 1, lanes};
}

/// What lane `from` has, to all of them.
template <class Space, class Team>
KOKKOS_INLINE_FUNCTION std::uint32_t word_of_lane(Team const& team, std::uint32_t const (&words)[Lanes<Space>::here],
                                                  int from) {
#if defined(__CUDA_ARCH__)
  static_cast<void>(team);
  return __shfl_sync(~0u, words[0], from);
#else
  std::uint32_t word = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, Lanes<Space>::count),
      [&](int const lane, std::uint32_t& all) { all |= lane == from ? words[Lanes<Space>::mine(lane)] : 0u; },
      Kokkos::BOr<std::uint32_t>(word));
  return word;
#endif
}

/// What the threads of a team of lanes_policy() have, each of its lanes alone where lanes are threads, taken together
/// by +=, to all of them.
template <class Space, class Team, class Total>
KOKKOS_INLINE_FUNCTION Total of_all_lanes(Team const& team, Total const& mine) {
  constexpr int lanes = TeamShape<Space>::on_host ? 1 : Lanes<Space>::count;
  Total all{};
  Kokkos::parallel_reduce(
      Kokkos::TeamVectorRange(team, team.team_size() * lanes), [&](int, Total& sum) { sum += mine; }, all);
  return all;
}

/// The word whose bit of every lane is vote(lane), to all of them. vote is called once a lane, by the lane itself where
/// lanes are threads.
template <class Team, class Vote>
KOKKOS_INLINE_FUNCTION std::uint32_t ballot(Team const& team, Vote const& vote) {
#if defined(__CUDA_ARCH__)
  // The lanes are one warp, of which all threads come by: a ballot is one instruction, a reduction five exchanges.
  static_cast<void>(team);
  return __ballot_sync(~0u, vote(static_cast<int>(threadIdx.x)));
#else
  std::uint32_t word = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, 32),
      [&](int const lane, std::uint32_t& bits) { bits |= vote(lane) ? std::uint32_t{1} << lane : 0u; },
      Kokkos::BOr<std::uint32_t>(word));
  return word;
#endif
}

/// The sum over the lanes of part(lane), to all of them.
template <class Team, class Part>
KOKKOS_INLINE_FUNCTION float sum_of_lanes(Team const& team, Part const& part) {
#if defined(__CUDA_ARCH__)
  // Every lane adds the same two numbers at each exchange, so that all end with the same bits.
  static_cast<void>(team);
  float total = part(static_cast<int>(threadIdx.x));
  BELLWETHER_UNROLL
  for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(~0u, total, apart);
  return total;
#else
  float total = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, 32), [&](int const lane, float& sum) { sum += part(lane); }, total);
  return total;
#endif
}

/// A team as workers, 32 lanes of each of its threads: on a device as many warps as the team was made of, on a host
/// one thread that does the work of all in turn.
template <class Space, int most_warps>
struct TeamLanes {
  static constexpr int lanes = Lanes<Space>::count;
  static constexpr int warps_here = TeamShape<Space>::on_host ? most_warps : 1;  ///< that the code of one runs for
  static constexpr int here = warps_here * Lanes<Space>::here;

  int warps;  ///< of the team

  /// body(worker, mine), as Lanes have it.
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION void all(Team const& team, Body const& body) const {
    each_warp(team, [&](int warp, int first) {
      Lanes<Space>::all(team, [&](int lane, int mine) { body(warp * lanes + lane, first + mine); });
    });
  }
  /// body(warp, the first of its lanes' elements)
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION void each_warp(Team const& team, Body const& body) const {
    if constexpr (warps_here == 1)
      body(team.team_rank(), 0);
    else
      for (int warp = 0; warp < warps; ++warp) body(warp, warp * lanes);
  }
  /// totals[i] = the sum over all workers of parts[mine][i], to all of them. staged: (most_warps, N) numbers of team
  /// scratch, where packs of N begin and which the meeting before this one had no part of.
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
    // All of them, whatever is there: a loop that ends at `warps` would not be unrolled.
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
