// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

/// What can be known of a launcher before MPI starts. Its variables prove nothing: a shell in a job hands them to
/// whatever it starts, and people export them. MPI alone knows the ranks that run.
namespace bellwether::app {

/// The place of a process in a job, by the variables of its innermost launcher.
struct LaunchedAs {
  long rank = 0;
  std::optional<long> size;  ///< none where the launcher does not say
};

/// Open MPI, MVAPICH, MPICH and its relatives, PMIx, Cray's PALS and ALPS, Flux, Slurm; none without their variables.
std::optional<LaunchedAs> launched_as();

/// "/proc/123/stat"
std::string process_entry(long process, char const* entry);

/// The nearest ancestor of this process that was not started with any of `variables` itself, behind scripts between a
/// launcher and the program; 0 where the system does not say.
long ancestor_without(std::span<char const* const> variables);
/// Whether this process was started with any of them; MPI sets some itself, which does not count.
bool started_with(std::span<char const* const> variables);

/// Whether a process of that name, in /proc/PID/comm, starts ranks or is the part of a launcher that does.
bool starts_ranks(std::string const& name);

/// Whether a launcher has started this process, by its variables and by the name of the ancestor that has none of them.
bool has_launcher();

/// How long this process waits before it tells a fault that every rank of its job may find before MPI starts: not at
/// all without a launcher and as the first rank. Others give a launcher time to end them, as most do when the first
/// rank has failed, and then tell it, too: the fault may be theirs alone.
std::chrono::seconds turn_to_tell();

}  // namespace bellwether::app
