// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace bellwether::app {

/// Bytes that processes on this host can still take: what the kernel calls available (/proc/meminfo), and no more than
/// the control group of this process has left, which is how batch systems bound a job. `root` stands in front of the
/// files' paths in tests. Where nothing is known: the largest number.
std::int64_t available_host_memory(std::string const& root = "");

}  // namespace bellwether::app
