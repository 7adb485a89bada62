// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/workers.hpp"

namespace bellwether {

/// Sums rows with a device team. The team takes a strip of columns; each worker sums every eighth row of one column.
template <class Space>
struct ColumnTeam {
  static constexpr int across = 32;  ///< columns of a strip; a warp reads neighbours
  static constexpr int groups = Workers<Space>::count / across;

  /// Returns the policy of `strips` teams with the scratch memory that sum() needs for Real.
  template <class Real>
  static Kokkos::TeamPolicy<Space> policy(Space const& exec, Index strips) {
    constexpr int bytes = Workers<Space>::count * static_cast<int>(sizeof(Real));
    auto policy = team_policy(exec, strips);
    policy.set_scratch_size(0, Kokkos::PerTeam(bytes));
    return policy;
  }
  template <class Real, class Team>
  KOKKOS_INLINE_FUNCTION static Real* staged(Team const& team) {
    return static_cast<Real*>(team.team_scratch(0).get_shmem(Workers<Space>::count * sizeof(Real)));
  }

  /// Calls take(column, sum) once for each column < columns, with columns <= across. The sum is that of value(row,
  /// column) over rows < rows: first over every eighth row in order, then over the eight partial sums in order.
  /// `staged`: the policy's scratch memory.
  template <class Real, class Team, class Value, class Take>
  KOKKOS_INLINE_FUNCTION static void sum(Team const& team, Index rows, int columns, Real* staged, Value const& value,
                                         Take const& take) {
    using W = Workers<Space>;
    W::all(team, [&](int worker, int) {
      int const column = worker % across;
      Real sum = 0;
      if (column < columns) {
        Index row = worker / across;
        for (; row + (loads_ahead - 1) * groups < rows; row += loads_ahead * groups) {
          Real read[loads_ahead];
          BELLWETHER_UNROLL
          for (int i = 0; i < loads_ahead; ++i) read[i] = value(row + i * groups, column);
          BELLWETHER_UNROLL
          for (int i = 0; i < loads_ahead; ++i) sum += read[i];
        }
        for (; row < rows; row += groups) sum += value(row, column);
      }
      staged[worker] = sum;
    });
    W::all(team, [&](int worker, int) {
      if (worker >= columns) return;
      Real sum = 0;
      for (int group = 0; group < groups; ++group) sum += staged[group * across + worker];
      take(worker, sum);
    });
  }
};

}  // namespace bellwether
