// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "comm/transport/watchdog.hpp"

#include <memory>

namespace bellwether::comm {

/// Returns a communicator over NCCL for the ranks of `host`, on the device that Kokkos uses. Collective: `host`
/// broadcasts the unique id. It takes ownership of `host`, which continues to run the host-side collectives.
/// Collectives run on a separate stream: after the work that `exec` has at their start, and before its work after
/// wait(). No step blocks the host. A thread watches the collectives in progress. If one fails or exceeds the timeout,
/// it aborts the group, and the next call throws CollectiveTimeout. `watchdog` may be null and must outlive the
/// communicator. It learns of every collective and is asked about late ones.
/// \throws CollectiveTimeout on an NCCL or device error, here and in every member.
std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> host, double timeout,
                                                     Watchdog* watchdog);

}  // namespace bellwether::comm
