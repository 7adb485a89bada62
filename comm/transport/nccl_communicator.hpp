// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "comm/transport/watchdog.hpp"

#include <memory>

namespace bellwether::comm {

/// The ranks of `host` over NCCL, on the device that Kokkos works on; `host` takes the few host-side collectives, and
/// is owned from here on. Collective: the unique id travels by a broadcast. Collectives go onto a stream of their own,
/// behind what `exec` holds when they start and in front of what it gets after wait(), so that no host waits in a step.
/// A thread of the communicator looks after those under way: one that fails, or passes the deadline, aborts the group,
/// and the next call throws CollectiveTimeout. watchdog, which outlives the ranks or is null, is told of every
/// collective and asked about one that is late. \throws CollectiveTimeout where NCCL or the device reports an error,
/// here and in every member that calls them.
std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> host, double deadline,
                                                     Watchdog* watchdog);

}  // namespace bellwether::comm
