// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

/// One option of a command line with its values; a flag has none.
struct GivenOption {
  std::string name;  ///< "--resume", or "deck" of a word without a name
  std::string value;
  bool operator==(GivenOption const&) const = default;
};

/// What the user has started on one rank.
struct GivenCommand {
  std::string program;  ///< version and build options
  std::string command;  ///< "bench step"; empty: none was given
  /// In the order of the help text. Every key of --set is an option of its own, "--set comm.deadline".
  std::vector<GivenOption> options;
  bool operator==(GivenCommand const&) const = default;
};

/// Whether the command never uses MPI, so that each process works for itself whatever started it.
bool runs_alone(GivenCommand const& given);

/// Collective, the first thing that ranks do together. Ranks may be started by separate parts of one launcher's
/// command line. \throws CommonError on all ranks where programs, commands or options differ; it names each of these
/// with the ranks.
void require_same_command(comm::RankGroup& group, GivenCommand const& mine);

}  // namespace bellwether::app
