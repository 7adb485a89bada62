// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/run_clock.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

using namespace bellwether;
using std::chrono::milliseconds, std::chrono::seconds;

TEST_CASE("a pause is the delay of a late look()") {
  Clock::time_point now{seconds(100)};
  PauseMeter meter(now);
  auto const look = [&](Clock::duration later) { meter.look(now += later); };
  for (int i = 0; i < 50; ++i) look(PauseMeter::usual);
  look(PauseMeter::longest_gap);  // a busy machine
  CHECK(meter.paused() == seconds(0));
  look(seconds(6));
  CHECK(meter.paused() == seconds(6) - PauseMeter::usual);
  look(milliseconds(1));  // another caller polls shortly after
  look(PauseMeter::usual);
  CHECK(meter.paused() == seconds(6) - PauseMeter::usual);
  look(seconds(3600));
  CHECK(meter.paused() == seconds(3606) - 2 * PauseMeter::usual);
}

TEST_CASE("calls of look() out of order find no pause") {
  Clock::time_point const now{seconds(100)};
  PauseMeter meter(now);
  meter.look(now + milliseconds(200));
  meter.look(now + milliseconds(100));
  meter.look(now + milliseconds(1100));
  CHECK(meter.paused() == seconds(0));
}

TEST_CASE("the clock stops while the process is suspended") {
  pid_t const child = fork();
  if (child == 0) {
    auto const start = RunClock::now();
    auto const wall = Clock::now();
    raise(SIGSTOP);
    // Each bound is one-sided: a busy machine makes either time longer.
    double const ran = seconds_since(start), passed = seconds_since(wall);
    _exit(passed >= 3 && ran < passed - 1.5 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, WUNTRACED) == child);
  REQUIRE(WIFSTOPPED(status));
  std::this_thread::sleep_for(seconds(3));
  REQUIRE(kill(child, SIGCONT) == 0);
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
