// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/rank_group.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bellwether::comm {

/// Knows where this rank is, and can ask where the others are: a thread of its own answers, on an MPI communicator of
/// its own, whatever the rest of the program waits for or computes. Nothing is sent until somebody asks.
class Watchdog {
 public:
  /// Collective over MPI_COMM_WORLD. hosts: (P), of each rank. With fewer than two ranks, or an MPI that cannot be
  /// called by two threads at a time, it knows this rank alone.
  explicit Watchdog(std::vector<std::string> hosts);
  ~Watchdog();
  Watchdog(Watchdog const&) = delete;
  Watchdog& operator=(Watchdog const&) = delete;

  void note_step(std::int64_t step);  ///< the step that begins
  /// A collective of `size` ranks begins. name and label: string literals.
  void begin(char const* name, Label label, int size);
  void note_waiting(bool now);  ///< for other ranks, until a collective ends

  /// Asks all ranks; does not wait. Called once half a deadline has passed.
  void ask();
  /// For the message of a stuck collective: the step, then ranks that have not answered since ask(), and those that
  /// compute and have begun fewer collectives of all ranks than this one, or else another one, with what they were last
  /// seen in. Where there are none, the same of ranks that wait themselves.
  std::string verdict() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::comm
