// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/team_sum.hpp"
#include "core/simd/math.hpp"

namespace bellwether {

/// Two sums computed in one pass.
template <class Real>
struct Pair {
  Real first = 0, second = 0;
  KOKKOS_INLINE_FUNCTION Pair& operator+=(Pair const& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

}  // namespace bellwether

template <class Real>
struct Kokkos::reduction_identity<bellwether::Pair<Real>> {
  KOKKOS_FORCEINLINE_FUNCTION static bellwether::Pair<Real> sum() { return {}; }
};

namespace bellwether {

/// A row processed by one thread in vectorisable loops, for hosts.
struct ThreadRow {
  static constexpr bool shared = false;

  /// Calls body(k) for k < count; the calls must touch different elements.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void each(Index count, Body const& body) const {
    BELLWETHER_SIMD
    for (Index k = 0; k < count; ++k) body(k);
  }
  /// Returns the sum of body(k), formed in lanes.
  template <class Real, class Body>
  KOKKOS_INLINE_FUNCTION Real sum(Index count, Body const& body) const {
    Real total = 0;
    BELLWETHER_SIMD_SUM(total)
    for (Index k = 0; k < count; ++k) total += body(k);
    return total;
  }
  /// Returns two sums of a body that returns Pair<Real>.
  template <class Real, class Body>
  KOKKOS_INLINE_FUNCTION Pair<Real> two_sums(Index count, Body const& body) const {
    Real first = 0, second = 0;
    BELLWETHER_SIMD_SUM(first, second)
    for (Index k = 0; k < count; ++k) {
      Pair<Real> const term = body(k);
      first += term.first;
      second += term.second;
    }
    return {first, second};
  }
  /// Returns the maximum of body(k); count > 0.
  template <class Real, class Body>
  KOKKOS_INLINE_FUNCTION Real largest(Index count, Body const& body) const {
    Real most = -Kokkos::Experimental::infinity_v<Real>;
    BELLWETHER_SIMD_MAX(most)
    for (Index k = 0; k < count; ++k) {
      Real const value = body(k);
      most = value > most ? value : most;
    }
    return most;
  }
  /// Call between two passes if the second reads what another thread wrote in the first.
  KOKKOS_INLINE_FUNCTION void sync() const {}
  template <class Body>
  KOKKOS_INLINE_FUNCTION void once(Body const& body) const {
    body();
  }
};

/// A row shared by a team, whose threads process neighbouring elements, for devices. The interface is that of
/// ThreadRow. Element k belongs to the same thread in each() and in all sums.
template <class Team>
struct TeamRow {
  static constexpr bool shared = true;

  template <class Body>
  KOKKOS_INLINE_FUNCTION void each(Index count, Body const& body) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count), body);
  }
  template <class Real, class Body>
  KOKKOS_INLINE_FUNCTION Real sum(Index count, Body const& body) const {
    Real total = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, count), [&](Index const k, Real& part) { part += body(k); }, total);
    return total;
  }
  template <class Real, class Body>
  KOKKOS_INLINE_FUNCTION Pair<Real> two_sums(Index count, Body const& body) const {
    return total<Pair<Real>>(count, body);
  }
  /// Returns the sum of body(k) by +=, for a type with a reduction_identity.
  template <class Sum, class Body>
  KOKKOS_INLINE_FUNCTION Sum total(Index count, Body const& body) const {
    Sum all;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, count), [&](Index const k, Sum& part) { part += body(k); }, all);
    return all;
  }
  template <class Real, class Body>
  KOKKOS_INLINE_FUNCTION Real largest(Index count, Body const& body) const {
    Real most = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, count),
        [&](Index const k, Real& part) {
          Real const value = body(k);
          part = value > part ? value : part;
        },
        Kokkos::Max<Real>(most));
    return most;
  }
  KOKKOS_INLINE_FUNCTION void sync() const { team.team_barrier(); }
  template <class Body>
  KOKKOS_INLINE_FUNCTION void once(Body const& body) const {
    Kokkos::single(Kokkos::PerTeam(team), body);
  }

  Team const& team;
};

namespace detail {

template <class Body>
struct RowByThread {
  KOKKOS_INLINE_FUNCTION void operator()(Index item) const { body(ThreadRow{}, item); }
  Body body;
};

template <class Body>
struct RowByTeam {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    body(TeamRow<Team>{team}, Index{team.league_rank()});
  }
  Body body;
};

}  // namespace detail

/// Calls body(row, item) for item < items, with a TeamRow of `threads` times `lanes` threads.
template <class Space, class Body>
void for_each_row_by_teams(char const* label, Space const& exec, Index items, int threads, int lanes,
                           Body const& body) {
  if (items == 0) return;
  Kokkos::parallel_for(label, Kokkos::TeamPolicy<Space>(exec, static_cast<int>(items), threads, lanes),
                       detail::RowByTeam<Body>{body});
}

/// Calls body(row, item) for item < items. An item is one row of `width` elements, or several rows processed in turn.
/// `row`: a ThreadRow on hosts, a TeamRow on devices; the function object `body` must accept both.
template <class Space, class Body>
void for_each_row(char const* label, Space const& exec, Index items, Index width, Body const& body) {
  if constexpr (TeamShape<Space>::host) {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, items),
                         detail::RowByThread<Body>{body});
  } else {
    constexpr int lanes = 32, own = 4;
    constexpr Index most = TeamShape<Space>::threads > lanes ? TeamShape<Space>::threads / lanes : 1;
    Index const threads = Kokkos::clamp<Index>(width / (lanes * own), 1, most);
    for_each_row_by_teams(label, exec, items, static_cast<int>(threads), lanes, body);
  }
}

}  // namespace bellwether
