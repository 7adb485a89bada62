// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/launch/given_options.hpp"
#include "core/system/error.hpp"

#include <memory>
#include <string>

namespace bellwether::comm {
class MpiRanks;
class World;
}  // namespace bellwether::comm

namespace bellwether::app {

/// What main() provides to the command that the user chose. It outlives the command, so that an error can be printed
/// with this process's rank, and other ranks ended, before MPI is finalized.
class Session {
 public:
  /// given: this rank's command line, compared with those of other ranks when MPI starts.
  Session(int argc, char** argv, GivenCommand given);
  ~Session();
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;

  /// Returns MPI and Kokkos. The first call starts them and is collective; commands that need neither never start them.
  /// They end with the session.
  ///
  /// \throws CommonError if environment variables are wrong on any rank, command lines
  /// differ between ranks, or the launcher belongs to another MPI. \throws RuntimeError if libraries cannot start.
  comm::World& world();

  int rank() const;  ///< 0 in a command without MPI
  int size() const;

  /// Notes that the command has written all its output and returns `exit_code`. A rank that then hangs in MPI_Finalize
  /// still exits with this code.
  void note_end(int exit_code) const;

  /// Prints `message`, waits `patience` seconds in which other ranks may print theirs, then ends this process and every
  /// other rank. Returns if there is no other rank.
  void end_other_ranks(int exit_code, std::string const& message, double patience) const;

 private:
  int argc_;
  char** argv_;
  GivenCommand given_;
  std::unique_ptr<comm::MpiRanks> ranks_;
  std::unique_ptr<comm::World> world_;
};

}  // namespace bellwether::app
