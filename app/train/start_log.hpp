// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace bellwether::app {

/// `starts.txt` of a run directory, a line for each start, "2026-11-23T04:45:00Z step 1200, 4 ranks", and one for the
/// first checkpoint that its job wrote, "2026-11-23T05:00:00Z checkpoint of step 1300". For users, and against a job
/// that is queued for ever without getting anywhere.
class StartLog {
 public:
  explicit StartLog(std::string const& directory);

  /// Before a start at `step`. \throws InputError where the last `fruitless_starts` began there, too: whatever ended
  /// them, none left a checkpoint. So in all members where the file is there and cannot be read.
  void require_progress(std::int64_t step) const;
  /// The start is made. \throws RuntimeError where the file cannot be written.
  void append(std::int64_t step, int ranks) const;
  /// The job has written its first checkpoint. \throws RuntimeError.
  void append_checkpoint(std::int64_t step) const;
  /// The last start was refused: its line goes, and with the only one the file. \throws RuntimeError.
  void remove_last() const;

  static constexpr int fruitless_starts = 3;

 private:
  std::string read() const;
  void add(std::string const& line) const;

  std::string path_;
};

}  // namespace bellwether::app
