// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "comm/transport/watchdog.hpp"

#include <limits>

namespace bellwether::comm {

struct MpiOptions {
  double timeout = 600;  ///< seconds
  /// Maximum bytes per MPI call: MPI counts and displacements are ints. Tests lower it.
  std::int64_t call_limit = std::numeric_limits<int>::max();
  /// Maximum bytes per message to another node. With long messages, receivers wait for each other: if two request from
  /// the same sender, each gets half of its link while another sender is idle. Tests lower it.
  std::int64_t piece = std::int64_t{128} << 10;
  /// Messages of at least this many bytes may be delayed by a ReceiveQueue. Tests lower it.
  std::int64_t long_message = std::int64_t{64} << 10;
  /// Copies every buffer through host memory. Always on for device memory that MPI cannot read; tests enable it
  /// anywhere.
  bool staged = false;
  Watchdog* watchdog = nullptr;  ///< notified of every collective, asked if one is late; must outlive the communicator
};

/// Returns the communicator of all ranks over MPI. Collective. MPI must be initialised and outlive it.
/// \throws RuntimeError on an MPI error, here and in every member.
std::unique_ptr<Communicator> make_world_communicator(MpiOptions const& options);

}  // namespace bellwether::comm
