// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/launch/interrupt.hpp"
#include "app/launch/stop_requests.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <fstream>
#include <thread>

using namespace bellwether::app;
using std::chrono::hours, std::chrono::seconds;

TEST_CASE("a time limit is near when another step and checkpoint may not fit into it") {
  Interrupt const interrupt;
  StopRequests stops(interrupt, bellwether::Clock::now(), hours(1), "");
  CHECK(stops.pending() == StopReason::none);
  stops.expect_checkpoint(40'000'000'000);  // 400 s
  stops.took_step(1900);
  CHECK(stops.pending() == StopReason::none);  // 1.5 (1900 + 400) + 5 s of 3600
  stops.took_step(2100);
  CHECK(stops.pending() == StopReason::walltime);
  stops.took_checkpoint(100);  // the measured time replaces the estimate
  stops.expect_checkpoint(40'000'000'000);
  CHECK(stops.pending() == StopReason::none);
  stops.took_checkpoint(400);
  stops.took_checkpoint(1);  // the slowest counts
  stops.took_step(1);
  CHECK(stops.pending() == StopReason::walltime);
}

TEST_CASE("without a limit only a signal or the file stops a run") {
  Interrupt const interrupt;
  TemporaryFolder const folder;
  auto const file = folder / "stop";
  StopRequests stops(interrupt, bellwether::Clock::now(), std::nullopt, file);
  stops.took_step(1e9);
  CHECK(stops.pending() == StopReason::none);
  std::ofstream(file) << "";
  while (stops.pending() != StopReason::file) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  stops.remove_file();
  CHECK_FALSE(std::filesystem::exists(file));
  stops.remove_file();                         // already removed by somebody else, which is no error
  CHECK(stops.pending() == StopReason::file);  // the request remains
  std::raise(SIGUSR1);
  CHECK(stops.pending() == StopReason::signal);
}

TEST_CASE("the stop file is removed whatever ended the run") {
  Interrupt const interrupt;
  TemporaryFolder const folder;
  auto const file = folder / "stop";
  StopRequests stops(interrupt, bellwether::Clock::now(), std::nullopt, file);
  stops.remove_file();
  std::ofstream(file) << "";
  std::raise(SIGUSR1);
  CHECK(stops.pending() == StopReason::signal);  // a signal takes precedence, so the file was not looked for
  stops.remove_file();
  CHECK_FALSE(std::filesystem::exists(file));
  StopRequests const elsewhere(interrupt, bellwether::Clock::now(), std::nullopt, "");
  elsewhere.remove_file();
}

TEST_CASE("a lost directory stops a run before anything else") {
  Interrupt const interrupt;
  TemporaryFolder const folder;
  StopRequests stops(interrupt, bellwether::Clock::now(), std::nullopt, folder / "stop");
  bool lost = false;
  stops.watch_directory([&] { return lost; });
  CHECK(stops.pending() == StopReason::none);
  lost = true;
  std::raise(SIGUSR1);
  while (stops.pending() != StopReason::directory) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  lost = false;
  CHECK(stops.pending() == StopReason::directory);
}
