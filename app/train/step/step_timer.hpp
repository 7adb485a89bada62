// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"
#include "core/system/run_clock.hpp"
#include "input/shards/batch_stream.hpp"

namespace bellwether::app {

/// Measures the times of a step on this rank, in seconds.
class StepTimer {
 public:
  /// stream: source of the batches; must outlive the timer.
  explicit StepTimer(input::BatchStream const& stream) : stream_(stream) {}

  /// Begins a step. A step that was enqueued ahead begins where the step before it ended.
  void begin(bool enqueued_ahead) {
    if (!enqueued_ahead) start_ = RunClock::now();
    waited_before_ = stream_.waited_seconds();
  }
  /// Notes that the gradients are complete. Later waiting time of the step is time waiting for other ranks.
  void reach_gradients() { busy_ = seconds_since(start_); }
  void end() {
    auto const now = RunClock::now();
    seconds_ = std::chrono::duration<double>(now - start_).count();
    run_seconds_ += seconds_;
    start_ = now;
  }

  double busy() const { return busy_; }  ///< from begin() to reach_gradients()
  /// Returns the time that the step has waited for its data so far.
  double waited() const { return stream_.waited_seconds() - waited_before_; }
  double seconds() const { return seconds_; }          ///< of the last step
  double run_seconds() const { return run_seconds_; }  ///< of all steps since the start of the run, over restarts
  void visit_state(StateVisitor& visit) { visit.scalar(number("wall_seconds", 0), run_seconds_); }

 private:
  input::BatchStream const& stream_;
  RunClock::time_point start_;  // of this step; between steps, the end of the last one
  double waited_before_ = 0, busy_ = 0, seconds_ = 0, run_seconds_ = 0;
};

}  // namespace bellwether::app
