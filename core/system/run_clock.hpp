// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/clock.hpp"

#include <algorithm>
#include <chrono>

namespace bellwether {

/// Measures how long a process was suspended. look() is called at least every `usual`. If a call comes much too late,
/// no thread ran: the batch system, SIGSTOP or the machine has suspended the process.
class PauseMeter {
 public:
  static constexpr Clock::duration usual = std::chrono::milliseconds(200);
  /// Shorter gaps occur on a busy machine and count as run time.
  static constexpr Clock::duration longest_gap = std::chrono::seconds(1);

  explicit PauseMeter(Clock::time_point now) : looked_(now) {}

  void look(Clock::time_point now) {
    auto const gap = now - looked_;
    if (gap > longest_gap) paused_ += gap - usual;
    looked_ = std::max(looked_, now);
  }
  Clock::duration paused() const { return paused_; }  ///< total

 private:
  Clock::time_point looked_;
  Clock::duration paused_{0};
};

/// A clock that stops while this process is suspended; timeouts and step times use it. It is monotonic. The first call
/// starts a thread that calls look() for the life of the process.
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
