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

/// A job's claim on its run directory: the lock, and a line in starts.txt. Taken before anything is allocated, so that
/// jobs that die during their start count, too.
class RunStart {
 public:
  /// Collective. Creates and locks the directory. host: of this rank, for messages. \throws CommonError if it cannot,
  /// if a rank does not see the directory, or if it holds a run and `resume` is false.
  RunStart(std::string const& directory, bool resume, comm::RankGroup& group, std::string const& host);

  /// Collective. Records a start at `step`. \throws CommonError if the last starts at this step made no progress.
  void enter(std::int64_t step);
  /// Records the first checkpoint that this job wrote, as evidence of progress. On one rank. \throws RuntimeError.
  void got_to(std::int64_t step);
  /// Undoes the start after an error in the user's input: removes its line, and the directory if this start created it.
  void withdraw() noexcept;
  /// Returns "what; what to do" if the directory was removed, renamed or replaced since; otherwise an empty text. Other
  /// jobs may use that name by now. Empty on ranks other than 0. May be called on any thread.
  std::string loss() const;
  void require_kept() const;     ///< \throws RuntimeError with loss()
  void require_kept_together();  ///< Collective. \throws CommonFailure with loss()
  std::string warning() const;   ///< of the lock; empty if the directory is locked

 private:
  void take(std::string const& directory, bool resume);

  comm::RankGroup& group_;
  std::filesystem::path directory_;
  std::filesystem::path made_;  // topmost folder that this start created; empty if all existed
  StartLog log_;
  std::unique_ptr<RunLock> lock_;  // on rank 0
  bool entered_ = false;
};

}  // namespace bellwether::app
