// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compiler.hpp"
#include "core/types.hpp"

namespace bellwether {

/// How a team processes a block. On hosts, a team is one thread that processes `lanes` neighbours at a time. Each lane
/// has a separate sum, so that the compiler vectorises without reordering the sums. On devices, each thread takes one
/// element, or four where it reads packs (team_runs.hpp). In a build for tests (device_teams_on_hosts), hosts take the
/// device path, too, with teams of one thread.
template <class Space>
struct TeamShape {
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;
  static constexpr bool host = on_host && !device_teams_on_hosts;
  static constexpr int lanes = host ? 32 : 1;
  static constexpr int threads = on_host ? 1 : 256;
};

/// Calls body(k) for k in [first, last); the calls must touch different elements.
template <class Space, class Team, class Body>
KOKKOS_INLINE_FUNCTION void team_for(Team const& team, Index first, Index last, Body const& body) {
  BELLWETHER_INDEPENDENT
  for (Index k = first + team.team_rank(); k < last; k += TeamShape<Space>::threads) body(k);
}

/// Number of elements whose loads a device thread has in flight.
inline constexpr int loads_ahead = 4;

/// Calls body(k, load(k)) for k in [first, last). load only reads; only body writes. A device thread loads several
/// elements before it writes any.
template <class Space, class Team, class Load, class Body>
KOKKOS_INLINE_FUNCTION void team_for(Team const& team, Index first, Index last, Load const& load, Body const& body) {
  if constexpr (TeamShape<Space>::host) {
    team_for<Space>(team, first, last, [&](Index k) { body(k, load(k)); });
  } else {
    constexpr Index stride = TeamShape<Space>::threads;  // constexpr, so that addresses differ by constants
    Index k = first + team.team_rank();
    for (; k + (loads_ahead - 1) * stride < last; k += loads_ahead * stride) {
      decltype(load(k)) loaded[loads_ahead];
      BELLWETHER_UNROLL
      for (int i = 0; i < loads_ahead; ++i) loaded[i] = load(k + i * stride);
      BELLWETHER_UNROLL
      for (int i = 0; i < loads_ahead; ++i) body(k + i * stride, loaded[i]);
    }
    for (; k < last; k += stride) body(k, load(k));
  }
}

/// Terms that one element adds to N sums.
template <int N>
struct Sums {
  double value[N];

  KOKKOS_INLINE_FUNCTION Sums& operator+=(Sums const& other) {
    for (int i = 0; i < N; ++i) value[i] += other.value[i];
    return *this;
  }
};

/// Terms that one element adds to N sums, and a number >= 0 whose maximum is taken.
template <int N>
struct SumsAndLargest {
  double value[N];
  double largest;

  KOKKOS_INLINE_FUNCTION SumsAndLargest& operator+=(SumsAndLargest const& other) {
    for (int i = 0; i < N; ++i) value[i] += other.value[i];
    largest = largest < other.largest ? other.largest : largest;
    return *this;
  }
};

}  // namespace bellwether

template <int N>
struct Kokkos::reduction_identity<bellwether::Sums<N>> {
  KOKKOS_FORCEINLINE_FUNCTION static bellwether::Sums<N> sum() { return {}; }
};
template <int N>
struct Kokkos::reduction_identity<bellwether::SumsAndLargest<N>> {
  KOKKOS_FORCEINLINE_FUNCTION static bellwether::SumsAndLargest<N> sum() { return {}; }
};

namespace bellwether {

namespace detail {

/// Sums lanes in pairs: the upper half is added to the lower half until one is left. Overwrites them.
template <int lanes>
KOKKOS_FORCEINLINE_FUNCTION double sum_in_halves(double (&lane)[lanes]) {
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  return lane[0];
}

/// Combines the values of a team's threads with += and returns the result to all. Synchronises once, regardless
/// of the size of Total.
template <class Space, class Team, class Total>
KOKKOS_INLINE_FUNCTION Total of_all_threads(Team const& team, Total const& mine) {
  if constexpr (TeamShape<Space>::on_host) {
    static_cast<void>(team);
    return mine;  // a host team has one thread
  } else {
    Total all{};
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, team.team_size()), [&](int, Total& sum) { sum += mine; }, all);
    return all;
  }
}

}  // namespace detail

/// Returns to every thread the sums over k in [first, last) of body(k), a function Sums<N>(Index) that may also write
/// its elements. The order of summation depends only on [first, last) and Space.
template <int N, class Space, class Team, class Body>
KOKKOS_INLINE_FUNCTION Sums<N> team_sum(Team const& team, Index first, Index last, Body const& body) {
  constexpr int lanes = TeamShape<Space>::lanes;
  double sums[N][lanes] = {};
  constexpr Index stride = Index{TeamShape<Space>::threads} * lanes;
  Index k = first + Index{team.team_rank()} * lanes;
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
  for (int i = 0; i < N; ++i) result.value[i] = detail::sum_in_halves(sums[i]);
  return detail::of_all_threads<Space>(team, result);
}

/// team_sum() for a body(k, load(k)), as in team_for().
template <int N, class Space, class Team, class Load, class Body>
KOKKOS_INLINE_FUNCTION Sums<N> team_sum(Team const& team, Index first, Index last, Load const& load, Body const& body) {
  if constexpr (TeamShape<Space>::host) {
    return team_sum<N, Space>(team, first, last, [&](Index k) { return body(k, load(k)); });
  } else {
    Sums<N> sums{};
    team_for<Space>(team, first, last, load, [&](Index k, auto const& loaded) {
      Sums<N> const term = body(k, loaded);
      for (int i = 0; i < N; ++i) sums.value[i] += term.value[i];
    });
    return detail::of_all_threads<Space>(team, sums);
  }
}

/// team_sum() with a maximum, for a body(k) that returns SumsAndLargest<N>.
template <int N, class Space, class Team, class Body>
KOKKOS_INLINE_FUNCTION SumsAndLargest<N> team_sum_and_largest(Team const& team, Index first, Index last,
                                                              Body const& body) {
  constexpr int lanes = TeamShape<Space>::lanes;
  constexpr Index stride = Index{TeamShape<Space>::threads} * lanes;
  double sums[N][lanes] = {};
  double largest[lanes] = {};
  auto const add = [&](int lane, SumsAndLargest<N> const& term) {
    for (int i = 0; i < N; ++i) sums[i][lane] += term.value[i];
    largest[lane] = largest[lane] < term.largest ? term.largest : largest[lane];
  };
  Index k = first + Index{team.team_rank()} * lanes;
  for (; k + lanes <= last; k += stride) {
    BELLWETHER_INDEPENDENT
    for (int lane = 0; lane < lanes; ++lane) add(lane, body(k + lane));
  }
  for (int lane = 0; k + lane < last; ++lane) add(lane, body(k + lane));
  SumsAndLargest<N> result;
  for (int i = 0; i < N; ++i) result.value[i] = detail::sum_in_halves(sums[i]);
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane)
      largest[lane] = largest[lane] < largest[lane + half] ? largest[lane + half] : largest[lane];
  result.largest = largest[0];
  return detail::of_all_threads<Space>(team, result);
}

/// Returns the policy of one team per item.
template <class Space>
Kokkos::TeamPolicy<Space> team_policy(Space const& exec, Index teams) {
  return {exec, static_cast<int>(teams), TeamShape<Space>::threads};
}

/// The same for `together` teams per multiprocessor, which bounds the registers of a thread.
template <unsigned together, class Space>
auto bound_team_policy(Space const& exec, Index teams) {
  if constexpr (TeamShape<Space>::on_host)
    return team_policy(exec, teams);
  else
    return Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<TeamShape<Space>::threads, together>>(
        exec, static_cast<int>(teams), TeamShape<Space>::threads);
}

}  // namespace bellwether
