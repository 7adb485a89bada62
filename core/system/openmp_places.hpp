// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace bellwether {

/// Returns true if explicit places of OMP_PLACES, such as "{0:4}:8:4,!{3}", name every one of `cpus`, the CPUs to which
/// OpenMP binds threads. If OpenMP rejects places and OMP_PROC_BIND is set, it binds threads to other CPUs instead.
/// Excluded numbers count as named. Returns true for abstract places, such as "cores(4)".
bool places_name(std::string_view places, std::span<int const> cpus);

/// Returns the same for the list of GOMP_CPU_AFFINITY, such as "0 3 4-15:2".
bool affinity_names(std::string_view list, std::span<int const> cpus);

}  // namespace bellwether
