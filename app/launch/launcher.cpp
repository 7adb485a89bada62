// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/launcher.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace bellwether::app {
namespace {

constexpr std::chrono::seconds patience(5);

struct Variables {
  char const* rank;
  char const* size;  // null: the launcher does not set it
};

constexpr Variables known_open_mpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"};
constexpr Variables known_mvapich = {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"};
constexpr Variables known_pmi = {"PMI_RANK", "PMI_SIZE"};
constexpr Variables known_slurm = {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"};

/// MPI launchers come before batch systems, because mpirun in a Slurm job sets its own variables and inherits Slurm's.
constexpr Variables known[] = {known_open_mpi,
                               known_mvapich,
                               known_pmi,
                               {"PMIX_RANK", nullptr},
                               {"PALS_RANKID", nullptr},
                               {"ALPS_APP_PE", nullptr},
                               {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
                               known_slurm};

std::optional<long> number(char const* variable) {
  char const* const value = variable == nullptr ? nullptr : std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  std::string_view const text(value);
  long number = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

/// Returns true in a step that a user's srun started. Slurm counts its own steps from the end: a batch script
/// 0xfffffffb, an interactive shell 0xfffffffa.
bool is_step_of_user() {
  constexpr long first_own = 0xfffffff0;
  auto const step = number("SLURM_STEP_ID");
  return step && *step < first_own;
}

bool process_started_with(long process, std::span<char const* const> variables) {
  std::ifstream file(process_entry(process, "environ"), std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');) {
    auto const name = std::string_view(entry).substr(0, entry.find('='));
    if (std::ranges::find(variables, name) != variables.end()) return true;
  }
  return false;
}

/// Returns the parent process; 0 if there is none or the system does not provide it.
long parent_of(long process) {
  std::ifstream file(process_entry(process, "stat"));
  std::string text;
  std::getline(file, text);
  auto const name_end = text.rfind(')');  // the name may contain spaces and parentheses
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(text.substr(name_end + 1));
  std::string state;
  long parent = 0;
  rest >> state >> parent;
  return rest ? parent : 0;
}

}  // namespace

std::optional<LaunchedAs> launched_as() {
  for (auto const& variables : known)
    if (auto const rank = number(variables.rank)) return LaunchedAs{*rank, number(variables.size)};
  return std::nullopt;
}

std::optional<LaunchedTasks> launched_tasks() {
  // Flux is not here: it sets PMI_RANK, too.
  for (auto const& [rank, size] : {known_open_mpi, known_mvapich, known_pmi, known_slurm}) {
    if (!number(rank) || (rank == known_slurm.rank && !is_step_of_user())) continue;
    auto const count = number(size).value_or(1);
    return count > 1 ? std::optional(LaunchedTasks{count, rank, size}) : std::nullopt;
  }
  return std::nullopt;
}

std::string fault_of_launcher(LaunchedTasks const& tasks, std::string const& library) {
  return std::string("started by a launcher with ") + std::to_string(tasks.count) + " tasks (" + tasks.size_variable +
         "), but MPI sees 1 rank: the launcher belongs to another MPI; use `srun --mpi=pmix`, or the mpirun of the "
         "MPI " +
         "that bellwether was built with (" + library + "); for a run of one rank here, unset " + tasks.rank_variable;
}

std::string process_entry(long process, char const* entry) { return "/proc/" + std::to_string(process) + '/' + entry; }

long ancestor_without(std::span<char const* const> variables) {
  long process = getppid();
  while (process > 1 && process_started_with(process, variables)) process = parent_of(process);
  return process;
}

bool started_with(std::span<char const* const> variables) { return process_started_with(getpid(), variables); }

bool starts_ranks(std::string const& name) {
  constexpr std::string_view beginnings[] = {"mpirun", "mpiexec", "orterun",   "orted", "prte",
                                             "prun",   "hydra_",  "pmi_proxy", "jsrun", "jsmd",
                                             "srun",   "slurm",   "flux-",     "pals",  "apinit"};
  return std::ranges::any_of(beginnings, [&](auto const& beginning) { return name.starts_with(beginning); });
}

bool has_launcher() {
  std::vector<char const*> ranks;
  for (auto const& variables : known) ranks.push_back(variables.rank);
  if (!started_with(ranks)) return false;
  std::ifstream file(process_entry(ancestor_without(ranks), "comm"));
  std::string name;
  std::getline(file, name);
  return starts_ranks(name);
}

std::chrono::seconds turn_to_tell() {
  auto const place = launched_as();
  bool const waits = place && place->rank > 0 && place->size != 1 && has_launcher();
  return waits ? patience : std::chrono::seconds(0);
}

}  // namespace bellwether::app
