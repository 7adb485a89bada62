// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

/// Detects the launcher before MPI starts. Environment variables are only a hint: a shell in a job passes them to every
/// process it starts, and users export them. Only MPI knows the actual ranks.
namespace bellwether::app {

/// A process's place in a job, according to the variables of its innermost launcher.
struct LaunchedAs {
  long rank = 0;
  std::optional<long> size;  ///< nothing if the launcher does not set it
};

/// Detects Open MPI, MVAPICH, MPICH and its derivatives, PMIx, Cray's PALS and ALPS, Flux and Slurm. Nothing without
/// their variables.
std::optional<LaunchedAs> launched_as();

/// The tasks that a launcher started together with this process.
struct LaunchedTasks {
  long count = 0;
  char const* rank_variable = "";  ///< "PMI_RANK"
  char const* size_variable = "";  ///< "PMI_SIZE"
};

/// Detects that this process is one of several tasks, by variables that launchers set for each task. The innermost
/// launcher decides. Slurm's allocation, and steps that Slurm makes for batch scripts and interactive shells, do not
/// count. Nothing for a single task. Call it before MPI starts, because MPI sets such variables, too.
std::optional<LaunchedTasks> launched_tasks();

/// Returns the fault of a process that MPI takes for a job of one rank, while a launcher started it as one of several
/// tasks. library: MPI's version line.
std::string fault_of_launcher(LaunchedTasks const& tasks, std::string const& library);

/// Returns a path in /proc: "/proc/123/stat".
std::string process_entry(long process, char const* entry);

/// Returns the nearest ancestor of this process whose initial environment has none of `variables`. This skips scripts
/// between a launcher and the program. Returns 0 if the system does not provide it.
long ancestor_without(std::span<char const* const> variables);
/// Returns true if the initial environment has any of `variables`. Variables that MPI sets later do not count.
bool started_with(std::span<char const* const> variables);

/// Returns true if a process of this name (/proc/PID/comm) is an MPI launcher or part of one.
bool starts_ranks(std::string const& name);

/// Returns true if a launcher started this process: its variables are set, and the nearest ancestor without them has a
/// launcher's name.
bool has_launcher();

/// Returns how long this process waits before it prints an error that every rank may find before MPI starts. 0 without
/// a launcher and on the first rank. Other ranks give the launcher time to end them, as most do when the first rank has
/// failed. Then they print the error, too, since only they may have it.
std::chrono::seconds turn_to_tell();

}  // namespace bellwether::app
