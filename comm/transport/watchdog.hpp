// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/rank_group.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bellwether::comm {

/// Records this rank's position in the program and can ask the other ranks for theirs. A separate thread answers on a
/// separate MPI communicator, even while the main thread waits or computes. It sends nothing until a rank asks.
class Watchdog {
 public:
  /// Collective over MPI_COMM_WORLD. hosts: (P), host of each rank. With one rank, or if MPI does not support calls
  /// from several threads, it only knows this rank.
  explicit Watchdog(std::vector<std::string> hosts);
  ~Watchdog();
  Watchdog(Watchdog const&) = delete;
  Watchdog& operator=(Watchdog const&) = delete;

  void note_step(std::int64_t step);  ///< call at the start of a step
  /// Call at the start of a collective over `size` ranks. name and label: string literals.
  void begin(char const* name, Label label, int size);
  /// now: true while this rank waits in a collective; reported to other ranks.
  void note_waiting(bool now);

  /// Asks all ranks for their position; does not wait. Called when half of the timeout has passed.
  void ask();
  /// Returns the report for the message of a timed-out collective. It names the step and the ranks that have not
  /// answered since ask(). It also names, with their position, ranks that compute and are behind this one or in another
  /// collective. If there are no such ranks, it lists those that wait themselves.
  std::string report() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::comm
