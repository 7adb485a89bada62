// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Checks of environment variables that libraries read at start-up. On an invalid value, the libraries themselves end
/// the program, or use a default and print a line on every rank.
namespace bellwether {

/// Returns the value of a variable, or null if unset: std::getenv, or a replacement in tests.
using Lookup = std::function<char const*(char const*)>;

/// Returns at most `most` bytes of a value, whole characters of UTF-8, then "..." if there are more.
std::string shortened(std::string const& value, std::size_t most);

/// The values a library accepts for one variable. Surrounding blanks are ignored.
struct VariableRule {
  char const* name;
  char const* allowed;  ///< shown to users: "a whole number, 1 or more"
  bool (*holds)(std::string_view value);
};

/// Returns "OMP_DYNAMIC: 'maybe'; allowed: true or false; correct or unset this environment variable". Shows at most
/// 40 bytes of the value.
std::string fault_of_variable(std::string const& name, std::string const& value, std::string const& allowed);

/// Returns one fault per variable whose value violates its rule, in the order of the rules.
std::vector<std::string> faults_of_variables(std::span<VariableRule const> rules, Lookup const& lookup);

/// Returns the faults of the variables of Kokkos and OpenMP; checks only their syntax.
std::vector<std::string> faults_of_thread_variables(Lookup const& lookup);

/// Returns the bytes requested by OMP_STACKSIZE or its older names; 0 if unset or invalid.
std::size_t stack_bytes(Lookup const& lookup);

/// OpenMP's interpretation of its variables, and the capacity of Kokkos.
struct OpenMpLimits {
  int most = 1;                  ///< maximum number of threads of Kokkos' backend
  int threads = 1;               ///< threads OpenMP starts by default
  int thread_limit = 1;          ///< upper limit of OpenMP's threads
  int places = 0;                ///< places for binding threads; 0: none understood
  std::vector<int> cpus = {};    ///< the CPUs of these places
  std::vector<int> online = {};  ///< the CPUs of this machine, ascending; empty: unknown
};

/// Returns the faults of the same variables, then of a Kokkos tool that cannot be loaded, then of threads that this
/// machine cannot start. Kokkos needs all of its threads. Call before Kokkos starts. Starts threads that end at once.
/// openmp: none if Kokkos does not use OpenMP.
std::vector<std::string> faults_of_threads(std::optional<OpenMpLimits> const& openmp);

}  // namespace bellwether
