// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/clock.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace bellwether::app {

class Interrupt;

/// Why a run stops before its last step.
enum class StopReason { none, signal, walltime, file, directory };
inline constexpr int stop_reasons = 4;  ///< number of reasons other than `none`
/// Returns the end of the sentence "stopped at step 5", e.g. ", near the end of run.walltime".
std::string how_stopped(StopReason reason);

/// Requests on this rank to stop the run: signals, the time limit, a file that the user creates, and the loss of the
/// run directory.
class StopRequests {
 public:
  /// interrupt: must outlive this object. limit: `run.walltime`, which counts from `started`. file: empty on all ranks
  /// but one. It is checked at most once per second, to limit the load on a shared file system.
  StopRequests(Interrupt const& interrupt, Clock::time_point started, std::optional<std::chrono::seconds> limit,
               std::string file);

  /// lost: returns true if the run directory is no longer this job's. Called when the file is checked.
  void watch_directory(std::function<bool()> lost) { lost_ = std::move(lost); }

  /// Records the time of one step, including everything until the next step.
  void took_step(double seconds);
  /// took_checkpoint() records the time from the copy of the state to the complete checkpoint. Until the first one,
  /// expect_checkpoint() estimates it: `bytes` at the speed of a slow disk.
  void took_checkpoint(double seconds);
  void expect_checkpoint(std::int64_t bytes);

  /// Call it before each step. The time limit is near if the remaining time is too short for 1.5 times the slowest step
  /// and the slowest checkpoint so far, plus 5 seconds.
  StopReason pending();
  /// Removes the file, if any, at the end of the run. Otherwise the next job would stop after one step. \throws
  /// RuntimeError if it cannot be removed.
  void remove_file() const;

 private:
  double seconds_to_come() const;

  Interrupt const& interrupt_;
  Clock::time_point started_;
  std::optional<std::chrono::seconds> limit_;
  std::string file_;
  std::function<bool()> lost_{};
  bool file_seen_ = false, directory_lost_ = false;
  Clock::time_point looked_{};
  double step_ = 0, checkpoint_ = 0;
  bool checkpoint_known_ = false;
};

}  // namespace bellwether::app
