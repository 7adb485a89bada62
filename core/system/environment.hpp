// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Checks of environment variables that libraries read when they start. The libraries themselves end the program over
/// one that they cannot read, or take their default with a line that every rank prints.
namespace bellwether {

/// The value of a variable, null where it is not set: std::getenv, or what a test has in its place.
using Lookup = std::function<char const*(char const*)>;

/// What a library understands of one variable. Blanks around a value do not count.
struct VariableRule {
  char const* name;
  char const* allowed;  ///< for people: "a whole number, 1 or more"
  bool (*holds)(std::string_view value);
};

/// "OMP_DYNAMIC: 'maybe'; allowed: true or false; correct or unset this environment variable"
std::string fault_of_variable(std::string const& name, std::string const& value, std::string const& allowed);

/// One fault for each variable that is set to what its rule does not allow, in the order of the rules.
std::vector<std::string> faults_of_variables(std::span<VariableRule const> rules, Lookup const& lookup);

/// Faults of the variables of Kokkos and OpenMP, by their text alone.
std::vector<std::string> faults_of_thread_variables(Lookup const& lookup);

/// Bytes that OMP_STACKSIZE or its older names ask for; 0 where none is set or readable.
std::size_t stack_bytes(Lookup const& lookup);

/// What OpenMP has made of its variables, and what Kokkos has room for.
struct OpenMpLimits {
  int most = 1;          ///< threads of Kokkos' back end
  int threads = 1;       ///< that OpenMP starts where nobody asks for another number
  int thread_limit = 1;  ///< that it never exceeds
  int places = 0;        ///< to which it binds threads; 0: it has understood none
};

/// Faults of the same variables in the environment, of a tool of Kokkos that cannot be loaded, then whether this
/// machine gives the threads that they ask for: Kokkos counts on every one of them. Before Kokkos starts. Starts
/// threads that end at once. openmp: none where Kokkos computes without it.
std::vector<std::string> faults_of_threads(std::optional<OpenMpLimits> const& openmp);

}  // namespace bellwether
