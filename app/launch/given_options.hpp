// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

/// One option of a command line with its value. A flag has no value.
struct GivenOption {
  std::string name;  ///< "--resume", or "deck" for a positional argument
  std::string value;
  bool operator==(GivenOption const&) const = default;
};

/// The command line of one rank.
struct GivenCommand {
  std::string program;  ///< version and build options
  std::string command;  ///< "bench step"; empty: none
  /// In the order of the help text. Every key of --set is a separate option, "--set comm.deadline".
  std::vector<GivenOption> options;
  bool operator==(GivenCommand const&) const = default;
};

/// Returns true if the command never uses MPI, so that each process works independently.
bool runs_alone(GivenCommand const& given);

/// Collective; the first communication between ranks. Compares the command lines of all ranks, because a launcher can
/// start ranks with different ones. \throws CommonError on all ranks if programs, commands or options differ. It names
/// each difference with the ranks.
void require_same_command(comm::RankGroup& group, GivenCommand const& mine);

}  // namespace bellwether::app
