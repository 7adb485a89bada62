// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/run_clock.hpp"

#include "core/system/signal_free_thread.hpp"

#include <mutex>
#include <thread>

namespace bellwether {
namespace {

/// The pause meter of the process. Each caller of now() updates it, too: after a pause the thread may resume last.
class Look {
 public:
  Look() : meter_(Clock::now()) {
    signal_free_thread("notice pauses", [this] {
      for (;;) {
        std::this_thread::sleep_for(PauseMeter::usual);
        now();
      }
    }).detach();
  }
  RunClock::time_point now() {
    std::lock_guard const lock(mutex_);
    auto const time = Clock::now();
    meter_.look(time);
    return RunClock::time_point(time.time_since_epoch() - meter_.paused());
  }

 private:
  std::mutex mutex_;
  PauseMeter meter_;
};

}  // namespace

RunClock::time_point RunClock::now() {
  static auto* const look = new Look;  // never destroyed: its thread lives as long as the process
  return look->now();
}

}  // namespace bellwether
