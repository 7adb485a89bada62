// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "comm/transport/watchdog.hpp"

#include <memory>

namespace bellwether::comm {

/// Returns a communicator over NCCL for the ranks of `host`, on the device that Kokkos uses. Collective: `host`
/// broadcasts the unique id. It takes ownership of `host`, which continues to run the host-side collectives.
/// Collectives run on a separate stream, after the work on `exec` at their start and before the work on `exec` after
/// wait(), so that no step blocks the host. A thread watches the collectives in progress: if one fails or exceeds
/// the timeout, it aborts the group, and the next call throws CollectiveTimeout. watchdog: may be null, must outlive
/// the communicator; is notified of every collective and asked if one is late. \throws CollectiveTimeout on an NCCL or
/// device error, here and in every member that calls them.
std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> host, double deadline,
                                                     Watchdog* watchdog);

}  // namespace bellwether::comm
