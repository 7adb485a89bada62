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

/// What main() lends to the command that the user chose. It outlives the command, so that an error that leaves the
/// command can still be told with the rank of this process, and the job be ended, before MPI goes away.
class Session {
 public:
  /// given: compared with what other ranks were given, once there are any.
  Session(int argc, char** argv, GivenCommand given);
  ~Session();
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;

  /// MPI and Kokkos: started by the first call, so that commands that need neither never pay for them, and ended with
  /// the session. The first call is collective. \throws CommonError where environment variables are wrong on any rank
  /// or command lines differ between ranks, RuntimeError where libraries cannot start.
  comm::World& world();

  int rank() const;  ///< 0 in a command without MPI
  int size() const;

  /// All that the command leaves is written, and `exit_code` what it returns; a rank that hangs while MPI ends does not
  /// make it a failure.
  void note_end(int exit_code) const;

  /// Prints `message`, then ends this process and every other rank, after `patience` seconds in which others may say
  /// the same; returns where there is no other rank to end.
  void end_other_ranks(int exit_code, std::string const& message, double patience) const;

 private:
  int argc_;
  char** argv_;
  GivenCommand given_;
  std::unique_ptr<comm::MpiRanks> ranks_;
  std::unique_ptr<comm::World> world_;
};

}  // namespace bellwether::app
