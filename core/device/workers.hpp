// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/team_sum.hpp"

namespace bellwether {

/// A team as 256 workers that synchronise at barriers. On a device each worker is a thread; on a host, one thread
/// runs all workers in turn.
template <class Space>
struct Workers {
  static constexpr int count = 256;
  static constexpr int here = count / TeamShape<Space>::threads;  ///< workers per thread
  static_assert(here * TeamShape<Space>::threads == count);

  /// Calls body(worker, index among this thread's workers), then synchronises.
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION static void all(Team const& team, Body const& body) {
    for (int own = 0; own < here; ++own) body(team.team_rank() * here + own, own);
    team.team_barrier();
  }
};

}  // namespace bellwether
