// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

/// Before a loop whose iterations touch different elements: the compiler need not test the pointers against each other.
#if defined(__CUDACC__) || defined(__HIPCC__) || !defined(__GNUC__)
#define BELLWETHER_INDEPENDENT
#else
#define BELLWETHER_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace bellwether {

/// How one team walks one block. On a host a team is one thread that treats `lanes` neighbours at a time, each with its
/// own running sum, which is what lets a compiler vectorise a sum without reordering it. On a device neighbours belong
/// to the threads of the team.
template <class Space>
struct TeamShape {
  static constexpr bool host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;
  static constexpr int lanes = host ? 32 : 1;
  static constexpr int threads = host ? 1 : 256;
};

/// What one element adds to N sums.
template <int N>
struct Sums {
  double value[N];
};

/// The sums over k in [first, last) of body(k), a function Sums<N>(Index) that may also write elements of its own,
/// given to every thread of the team. Formed in an order that depends on [first, last) and Space alone.
template <int N, class Space, class Team, class Body>
KOKKOS_INLINE_FUNCTION Sums<N> team_sum(Team const& team, Index first, Index last, Body const& body) {
  constexpr int lanes = TeamShape<Space>::lanes;
  double sums[N][lanes] = {};
  Index k = first + Index{team.team_rank()} * lanes;
  Index const stride = Index{team.team_size()} * lanes;
  for (; k + lanes <= last; k += stride) {
    BELLWETHER_INDEPENDENT
    for (int lane = 0; lane < lanes; ++lane) {
      Sums<N> const term = body(k + lane);
      for (int i = 0; i < N; ++i) sums[i][lane] += term.value[i];
    }
  }
  for (int lane = 0; k + lane < last; ++lane) {
    Sums<N> const term = body(k + lane);
    for (int i = 0; i < N; ++i) sums[i][lane] += term.value[i];
  }
  Sums<N> result;
  for (int i = 0; i < N; ++i) {
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int lane = 0; lane < half; ++lane) sums[i][lane] += sums[i][lane + half];
    team.team_reduce(Kokkos::Sum<double>(sums[i][0]));
    result.value[i] = sums[i][0];
  }
  return result;
}

/// What one element adds to N sums, and a number of which the largest is wanted, at least 0.
template <int N>
struct SumsAndLargest {
  double value[N];
  double largest;
};

/// As team_sum(), for a body that returns SumsAndLargest<N>.
template <int N, class Space, class Team, class Body>
KOKKOS_INLINE_FUNCTION SumsAndLargest<N> team_sum_and_largest(Team const& team, Index first, Index last,
                                                              Body const& body) {
  constexpr int lanes = TeamShape<Space>::lanes;
  double largest[lanes] = {};
  Index const slots = Index{team.team_size()} * lanes;
  Index const origin = first;
  auto const sums = team_sum<N, Space>(team, first, last, [&](Index k) {
    SumsAndLargest<N> const term = body(k);
    double& slot = largest[(k - origin) % slots % lanes];
    slot = slot < term.largest ? term.largest : slot;
    Sums<N> result;
    for (int i = 0; i < N; ++i) result.value[i] = term.value[i];
    return result;
  });
  SumsAndLargest<N> result;
  for (int i = 0; i < N; ++i) result.value[i] = sums.value[i];
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane)
      largest[lane] = largest[lane] < largest[lane + half] ? largest[lane + half] : largest[lane];
  team.team_reduce(Kokkos::Max<double>(largest[0]));
  result.largest = largest[0];
  return result;
}

/// Calls body(k) for k in [first, last); the calls touch different elements.
template <class Space, class Team, class Body>
KOKKOS_INLINE_FUNCTION void team_for(Team const& team, Index first, Index last, Body const& body) {
  BELLWETHER_INDEPENDENT
  for (Index k = first + team.team_rank(); k < last; k += TeamShape<Space>::threads) body(k);
}

/// One team for each of `teams` items.
template <class Space>
Kokkos::TeamPolicy<Space> team_policy(Space const& exec, Index teams) {
  return {exec, static_cast<int>(teams), TeamShape<Space>::threads};
}

}  // namespace bellwether
