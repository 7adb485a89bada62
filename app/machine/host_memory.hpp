// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

/// Returns the bytes of memory that processes on this host can still allocate. This is the minimum of what the kernel
/// reports as available (/proc/meminfo) and what the control group of this process leaves. Batch systems limit a job by
/// its control group. Returns the largest number if nothing is known. root: prefix of the files' paths, for tests.
std::int64_t available_host_memory(std::string const& root = "");

/// Collective. Rejects a model that exceeds the memory of a host, because the system would otherwise kill a process
/// without a message. Counts parameters, gradients and two moments, and activations of `workspace_bytes`, for all ranks
/// of the host. \throws CommonError that begins with the key.
void require_host_memory(comm::World& world, std::int64_t parameters, std::int64_t workspace_bytes);

}  // namespace bellwether::app
