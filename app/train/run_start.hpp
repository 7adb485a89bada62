// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/train/run_lock.hpp"
#include "app/train/start_log.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

/// A job's hold on its run directory, taken before anything is allocated: the lock, and its line in starts.txt, so that
/// jobs that die while they start are counted, too.
class RunStart {
 public:
  /// Collective. Makes the directory and keeps it, or refuses to mix two runs. \throws CommonError.
  RunStart(std::string const& directory, bool resume, comm::RankGroup& group);

  /// Collective. The start at `step` is made. \throws CommonError where the last ones there got nowhere.
  void enter(std::int64_t step);
  /// Of the first checkpoint that this job has written: it got somewhere. On one rank; \throws RuntimeError.
  void got_to(std::int64_t step);
  /// Something is the user's to mend: the start does not count, and of a directory that was made for it nothing stays.
  void withdraw() noexcept;
  std::string warning() const;  ///< of the lock; empty where it keeps the directory

 private:
  comm::RankGroup& group_;
  std::filesystem::path directory_;
  std::filesystem::path made_;  // the topmost folder that was not there; empty: all were
  StartLog log_;
  std::unique_ptr<RunLock> lock_;  // rank 0
  bool entered_ = false;
};

}  // namespace bellwether::app
