// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether {

/// Returns true if explicit places of OMP_PLACES, such as "{0:4}:8:4,!{3}", name every one of `cpus`, the CPUs to which
/// OpenMP binds threads. If OpenMP rejects places and OMP_PROC_BIND is set, it binds threads to other CPUs instead.
/// Excluded numbers count as named. Returns true for abstract places, such as "cores(4)".
bool places_name(std::string_view places, std::span<int const> cpus);

/// Returns the first CPU that explicit places of OMP_PLACES name and this machine lacks: 100 of "{0,1,100}". OpenMP
/// would bind threads to the other CPUs of the place. Excluded numbers do not count. Returns nothing if all exist, for
/// abstract places, and if `online`, the CPUs of this machine, is empty.
std::optional<std::int64_t> missing_cpu(std::string_view places, std::span<int const> online);

/// Returns the CPUs of this machine in ascending order, also those that this process may not use. Returns nothing if
/// the system does not say. root: prefix of the path read, for tests.
std::vector<int> online_cpus(std::string const& root = "");

/// Returns the same as places_name() for the list of GOMP_CPU_AFFINITY, such as "0 3 4-15:2".
bool affinity_names(std::string_view list, std::span<int const> cpus);

}  // namespace bellwether
