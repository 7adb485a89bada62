// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

/// Bytes that processes on this host can still take: what the kernel calls available (/proc/meminfo), and no more than
/// the control group of this process has left, which is how batch systems bound a job. `root` stands in front of the
/// files' paths in tests. Where nothing is known: the largest number.
std::int64_t available_host_memory(std::string const& root = "");

/// Collective. Refuses a model that the ranks of a host cannot hold together, which would otherwise end in a process
/// that is killed without a word: parameters, gradients and two moments at least, and activations of `workspace_bytes`.
/// \throws CommonError with the key in front.
void require_host_memory(comm::World& world, std::int64_t parameters, std::int64_t workspace_bytes);

}  // namespace bellwether::app
