// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "comm/transport/watchdog.hpp"

#include <limits>

namespace bellwether::comm {

struct MpiOptions {
  double deadline = 600;  ///< seconds
  /// Bytes one MPI call may carry: MPI counts and displacements are ints. Lowered in tests.
  std::int64_t call_limit = std::numeric_limits<int>::max();
  /// Bytes one message to another node may carry. Ranks that take long ones in turn wait for each other's: two ask the
  /// same one, which gives either half of its link, while another sends nothing. Lowered in tests.
  std::int64_t piece = std::int64_t{128} << 10;
  /// Bytes from which a message may have to wait for others to the same rank. Lowered in tests.
  std::int64_t long_message = std::int64_t{64} << 10;
  /// Copies every buffer through host memory. Always on where memory is a device's and MPI does not say that it reads
  /// it; tests turn it on anywhere.
  bool staged = false;
  Watchdog* watchdog = nullptr;  ///< told of every collective, and asked about one that is late; outlives the ranks
};

/// All ranks of the job, over MPI. Collective. MPI must be initialised, and outlive the communicator.
/// \throws RuntimeError where MPI reports an error, here and in every member.
std::unique_ptr<Communicator> make_world_communicator(MpiOptions const& options);

}  // namespace bellwether::comm
