// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/team_sum.hpp"

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
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), [&](int const lane) { body(lane, mine(lane)); });
  }
  /// The sum of every lane's part, to all of them.
  template <class Team>
  KOKKOS_INLINE_FUNCTION static float sum(Team const& team, float const (&parts)[here]) {
    float total = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, count), [&](int const lane, float& sum) { sum += parts[mine(lane)]; }, total);
    return total;
  }
};

/// Threads of 32 lanes to a team: four on a device, one on a host.
template <class Space>
inline constexpr int lane_threads = TeamShape<Space>::on_host ? 1 : 4;

/// For teams of them, of which so many are to fit on a multiprocessor: a bound on a thread's registers.
template <class Space, unsigned teams>
using LanePolicy = std::conditional_t<TeamShape<Space>::on_host, Kokkos::TeamPolicy<Space>,
                                      Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<128, teams>>>;

template <class Policy>
Policy lane_policy(typename Policy::execution_space const& exec, Index teams) {
  using Space = typename Policy::execution_space;
  return {exec, static_cast<int>(teams), lane_threads<Space>, Lanes<Space>::count};
}

}  // namespace bellwether
