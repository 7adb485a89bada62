// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/launcher.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

using namespace bellwether;

namespace {

/// Sets variables for one check, and removes all that launchers set.
class Launched {
 public:
  explicit Launched(std::vector<std::pair<char const*, char const*>> const& variables) {
    clear();
    for (auto const& [name, value] : variables) setenv(name, value, 1);
  }
  ~Launched() { clear(); }
  Launched(Launched const&) = delete;
  Launched& operator=(Launched const&) = delete;

 private:
  static void clear() {
    for (auto const* name :
         {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "PMI_RANK",
          "PMI_SIZE", "PMIX_RANK", "SLURM_PROCID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"})
      unsetenv(name);
  }
};

/// Returns the number of tasks; 1 if the variables say nothing of several.
long tasks(std::vector<std::pair<char const*, char const*>> const& variables) {
  Launched const launched(variables);
  auto const found = app::launched_tasks();
  return found ? found->count : 1;
}

}  // namespace

TEST_CASE("Tasks that a launcher starts together are counted") {
  CHECK(tasks({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}) == 4);
  CHECK(tasks({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}) == 2);
  CHECK(tasks({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "3"}}) == 3);
  CHECK(tasks({{"PMIX_RANK", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "7"}, {"SLURM_STEP_NUM_TASKS", "3"}}) == 3);
}

TEST_CASE("One task in an allocation of several is one task") {
  CHECK(tasks({}) == 1);
  CHECK(tasks({{"SLURM_NTASKS", "4"}}) == 1);                                 // salloc
  CHECK(tasks({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}}) == 1);  // not in a step
  for (auto const* own : {"4294967290", "4294967291", "4294967292"})          // interactive, batch, extern
    CHECK(tasks({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", own}, {"SLURM_STEP_NUM_TASKS", "4"}}) == 1);
  CHECK(tasks({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "2"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "4"}}) ==
        1);
  CHECK(tasks({{"PMI_SIZE", "4"}}) == 1);
  CHECK(tasks({{"PMI_RANK", "0"}, {"PMI_SIZE", "many"}}) == 1);
}

TEST_CASE("The innermost launcher decides how many tasks there are") {
  // mpirun -np 1, whose daemons are tasks of a step.
  CHECK(tasks({{"OMPI_COMM_WORLD_RANK", "0"},
               {"OMPI_COMM_WORLD_SIZE", "1"},
               {"SLURM_PROCID", "1"},
               {"SLURM_STEP_ID", "0"},
               {"SLURM_STEP_NUM_TASKS", "3"}}) == 1);
  CHECK(tasks({{"PMI_RANK", "0"},
               {"PMI_SIZE", "1"},
               {"SLURM_PROCID", "1"},
               {"SLURM_STEP_ID", "0"},
               {"SLURM_STEP_NUM_TASKS", "3"}}) == 1);
}

TEST_CASE("The launcher of another MPI is named with what to do") {
  CHECK(app::fault_of_launcher({4, "PMI_RANK", "PMI_SIZE"}, "Open MPI v4.1.4") ==
        "started by a launcher with 4 tasks (PMI_SIZE), but MPI sees 1 rank: the launcher belongs to another MPI; use "
        "`srun --mpi=pmix`, or the mpirun of the MPI that bellwether was built with (Open MPI v4.1.4); for a run of "
        "one rank here, unset PMI_RANK");
}
