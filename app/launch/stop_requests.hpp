// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace bellwether::app {

class Interrupt;

/// Why a run is to stop before its last step.
enum class StopReason { none, signal, walltime, file };
inline constexpr int stop_reasons = 3;  ///< those that are one
/// What follows "stopped at step 5": ", near the end of run.walltime", say.
std::string how_stopped(StopReason reason);

/// What this rank knows of wishes that the run stop: signals, the time limit, and a file that somebody made.
class StopRequests {
 public:
  /// interrupt: outlives this. limit: `run.walltime`, which began to run at `started`. file: looked for at most once a
  /// second, since it may be on a file system that many share; empty on all ranks but one.
  StopRequests(Interrupt const& interrupt, Clock::time_point started, std::optional<std::chrono::seconds> limit,
               std::string file);

  /// One step, with all that comes between it and the next.
  void took_step(double seconds);
  /// From the copy of the state to the complete checkpoint. Where none is known yet, `bytes` at a slow disk's speed.
  void took_checkpoint(double seconds);
  void expect_checkpoint(std::int64_t bytes);

  /// Before a step. The time limit is near where what may still come, another step and a checkpoint half as slow again
  /// as the slowest so far, would not fit into it.
  StopReason pending();
  /// At the end, whatever brought it, the file goes where there is one: the next job would stop after a step.
  /// \throws RuntimeError where it stays.
  void remove_file() const;

 private:
  double seconds_to_come() const;

  Interrupt const& interrupt_;
  Clock::time_point started_;
  std::optional<std::chrono::seconds> limit_;
  std::string file_;
  bool file_seen_ = false;
  Clock::time_point looked_{};
  double step_ = 0, checkpoint_ = 0;
  bool checkpoint_known_ = false;
};

}  // namespace bellwether::app
