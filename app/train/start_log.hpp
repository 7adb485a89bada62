// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace bellwether::app {

/// The file `starts.txt` of a run directory. It has a line for each start, "2026-11-23T04:45:00Z step 1200, 4 ranks",
/// and one for the first checkpoint of each job, "2026-11-23T05:00:00Z checkpoint of step 1300". It informs users, and
/// it stops a job that is requeued again and again without progress.
class StartLog {
 public:
  explicit StartLog(std::string const& directory);

  /// Call it before a start at `step`. \throws InputError if the last `fruitless_starts` starts began at this step and
  /// none wrote a checkpoint. Every member throws InputError if the file exists but cannot be read.
  void require_progress(std::int64_t step) const;
  /// Adds the line of a start. \throws RuntimeError if the file cannot be written.
  void append(std::int64_t step, int ranks) const;
  /// Adds the line of the job's first checkpoint. \throws RuntimeError.
  void append_checkpoint(std::int64_t step) const;
  /// Removes the last line, of a start that was refused; removes an empty file. \throws RuntimeError.
  void remove_last() const;

  static constexpr int fruitless_starts = 3;

 private:
  std::string read() const;
  void add(std::string const& line) const;

  std::string path_;
};

}  // namespace bellwether::app
