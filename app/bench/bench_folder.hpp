// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <string>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

/// A folder of all ranks that goes, with what is in it, when the object goes or when rank 0 ends in any other way: a
/// shell of its own session waits for that and removes the folder. A launcher may give a rank no time to do it.
class BenchFolder {
 public:
  /// Collective. \throws CommonError where rank 0 cannot make the folder below `parent`, CommonFailure where it cannot
  /// start the shell.
  BenchFolder(comm::RankGroup& group, std::string const& parent);
  ~BenchFolder();
  BenchFolder(BenchFolder const&) = delete;
  BenchFolder& operator=(BenchFolder const&) = delete;

  std::string const& path() const { return path_; }

 private:
  void start_shell();
  std::string path_;
  // Of rank 0:
  pid_t shell_ = 0;
  int lifeline_ = -1;  // a pipe to the shell, which ends with this process
};

}  // namespace bellwether::app
