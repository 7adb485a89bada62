// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/clock.hpp"

#include <algorithm>
#include <chrono>

namespace bellwether {

/// Finds out how long a process was stopped. Somebody looks at least every `usual`; a look that comes far too late
/// means that nobody could look: the process was suspended by its batch system, by SIGSTOP or with its whole machine.
class PauseMeter {
 public:
  static constexpr Clock::duration usual = std::chrono::milliseconds(200);
  /// Shorter gaps are those of a busy machine, and count as running.
  static constexpr Clock::duration longest_gap = std::chrono::seconds(1);

  explicit PauseMeter(Clock::time_point now) : looked_(now) {}

  void look(Clock::time_point now) {
    auto const gap = now - looked_;
    if (gap > longest_gap) paused_ += gap - usual;
    looked_ = std::max(looked_, now);
  }
  Clock::duration paused() const { return paused_; }  ///< in all

 private:
  Clock::time_point looked_;
  Clock::duration paused_{0};
};

/// A clock that stands still while this process is stopped: deadlines and the time of steps count by it. The first call
/// starts a thread that looks at the time for as long as the process lives. The clock never goes back.
struct RunClock {
  using duration = Clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<RunClock>;
  static constexpr bool is_steady = true;
  static time_point now();
};

inline double seconds_since(RunClock::time_point start) {
  return std::chrono::duration<double>(RunClock::now() - start).count();
}

}  // namespace bellwether
