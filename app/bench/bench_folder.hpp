// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <string>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

/// A temporary folder that all ranks share. A shell removes the folder and its contents when rank 0 destroys the object
/// or when its process ends in any way. The shell runs in its own session, because a launcher may kill the ranks before
/// they can clean up.
class BenchFolder {
 public:
  /// Collective. \throws CommonError if rank 0 cannot create the folder below `parent`, CommonFailure if it cannot
  /// start the shell.
  BenchFolder(comm::RankGroup& group, std::string const& parent);
  ~BenchFolder();
  BenchFolder(BenchFolder const&) = delete;
  BenchFolder& operator=(BenchFolder const&) = delete;

  std::string const& path() const { return path_; }

 private:
  void start_shell();
  std::string path_;
  // On rank 0 only:
  pid_t shell_ = 0;
  int lifeline_ = -1;  // write end of a pipe to the shell; the system closes it when this process ends
};

}  // namespace bellwether::app
