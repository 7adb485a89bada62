// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/statistics_segment.hpp"
#include "core/system/error.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/app/statistics/recorded_rows.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

using namespace bellwether;
using app::Statistics;
using Catch::Matchers::ContainsSubstring;
using input::Hdf5File;
using sample::check_shows;
using sample::column;
using sample::options;
using sample::record;

TEST_CASE("Statistics show all segments as one") {
  TemporaryFolder const folder;
  input::IoThread io;
  Statistics statistics(options(folder), io);
  check_shows(folder, 0);
  std::int64_t done = 0;
  for (std::int64_t const last : {1, 2, 8, 9, 16, 50}) {
    record(statistics, done + 1, last);
    done = last;
    statistics.flush();
    statistics.wait();
    check_shows(folder, last);
  }
}

TEST_CASE("Statistics are written at a fixed interval of steps, however few rows they have") {
  TemporaryFolder const folder;
  input::IoThread io;
  auto settings = options(folder);
  settings.flush_every = 20;
  settings.segment_rows = 100;
  auto const shown = [&](Statistics& statistics, std::int64_t first, std::int64_t last, std::int64_t every) {
    for (std::int64_t step = first; step <= last; step += every) statistics.append(sample::step_row(step));
    statistics.wait();
    auto const steps = column<std::int64_t>(
        Hdf5File::open(folder / "statistics.h5", input::VirtualData::show).read_table("steps"), "step");
    return steps.empty() ? 0 : steps.back();
  };
  {
    Statistics statistics(settings, io);
    CHECK(shown(statistics, 5, 15, 5) == 0);
    CHECK(shown(statistics, 20, 20, 5) == 20);
    CHECK(shown(statistics, 30, 30, 5) == 20);
    CHECK(shown(statistics, 50, 50, 5) == 50);
    CHECK(shown(statistics, 60, 60, 5) == 50);
  }
  settings.resume = sample::point(50);
  Statistics statistics(settings, io);
  CHECK(shown(statistics, 55, 65, 5) == 50);
  CHECK(shown(statistics, 70, 70, 5) == 70);
}

TEST_CASE("Only the layer quantities that a run names are recorded") {
  TemporaryFolder const folder;
  input::IoThread io;
  auto settings = options(folder);
  settings.quantities = GENERATE(std::vector<std::string>{}, std::vector<std::string>{"update_norm"});
  {
    Statistics statistics(settings, io);
    auto const values = sample::layer_values(1, 0.5F);
    std::vector<std::span<float const>> const rows(settings.quantities.size(), values);
    for (std::int64_t step = 1; step <= 9; ++step) statistics.append_layers(step, rows);
    CHECK_THROWS_AS(statistics.append_layers(10, std::vector<std::span<float const>>(3)), InternalError);
    statistics.append(sample::step_row(9));
    statistics.flush();
    statistics.wait();
  }
  settings.resume = sample::point(9);
  Statistics const statistics(settings, io);
  Hdf5File const file = Hdf5File::open(folder / "statistics.h5", input::VirtualData::show);
  auto expected = settings.quantities;
  expected.insert(expected.end(), {"name", "step"});
  std::ranges::sort(expected);
  CHECK(file.list("layers") == expected);
  CHECK(file.read<std::int64_t>("layers/step").size() == 9);
  for (auto const& quantity : settings.quantities) {
    CHECK(file.info("layers/" + quantity).shape == input::Shape{9, 3});
    CHECK(file.read<float>("layers/" + quantity)[25] == 2.5F);
  }
}

TEST_CASE("Traffic is recorded by phase, and a resumed run continues its totals") {
  TemporaryFolder const folder;
  input::IoThread io;
  auto const shown = [&] {
    return app::read_traffic(Hdf5File::open(folder / "statistics.h5", input::VirtualData::show)).value();
  };
  app::TrafficTotals totals;
  auto settings = options(folder);
  {
    Statistics statistics(settings, io);
    CHECK(shown().all().steps == 0);
    totals.add({.phase = 0, .steps = 2, .sent_bytes = 700, .dense_bytes_16bit = 300});
    statistics.count(totals);
    record(statistics, 1, 20);
    totals.add({.phase = 1, .steps = 3, .sent_bytes = 90, .worker_bytes = 41, .server_bytes = 43});
    statistics.count(totals);  // without a row, because statistics.every omits steps
    statistics.flush();
    statistics.wait();
    CHECK((shown().dense.steps == 2 && shown().dense.sent_bytes == 700 && shown().dense.dense_bytes_16bit == 300));
    CHECK((shown().compressed.steps == 3 && shown().compressed.worker_bytes == 41));
  }
  settings.resume = sample::point(10);
  settings.traffic.add({.phase = 0, .steps = 1, .sent_bytes = 350});
  Statistics const statistics(settings, io);
  CHECK((shown().dense.sent_bytes == 350 && shown().compressed.steps == 0));
  CHECK(Hdf5File::open(folder / "statistics.h5", input::VirtualData::show).read_table("traffic").size() == 9);
}

TEST_CASE("A row of a step marks unknown values") {
  app::StepRow const row;
  for (auto const value : {row.loss, row.mlm_accuracy, row.learning_rate, row.gradient_norm}) CHECK(std::isnan(value));
  CHECK((row.phase == 0 && row.compressed_bytes == 0 && row.scalar_bytes == 0 && row.dense_bytes_fp32 == 0));
}

TEST_CASE("A run's name and the losses without context are recorded") {
  double const context_free = GENERATE(5.5, 0.0);  // 0: held-out shards of an earlier version
  TemporaryFolder const folder;
  input::IoThread io;
  auto named = options(folder);
  named.run = {.name = "a first try", .frequency_loss = 6.25, .context_free_loss = context_free};
  Statistics const statistics(named, io);
  auto const file = Hdf5File::open(folder / "statistics.h5", input::VirtualData::show);
  CHECK(file.attribute("evaluation", "frequency_loss") == Hdf5File::Attribute(6.25));
  CHECK(file.attribute("/", "run_name") == Hdf5File::Attribute(std::string("a first try")));
  auto const recorded = file.attribute("evaluation", "context_free_loss");
  CHECK(recorded.has_value() == (context_free > 0));
  if (recorded) CHECK(*recorded == Hdf5File::Attribute(context_free));
}

TEST_CASE("Rows that cannot be written for a while are written later, without gaps") {
  namespace fs = std::filesystem;
  TemporaryFolder const folder;
  input::IoThread io;
  auto settings = options(folder);
  std::vector<std::string> warnings;
  settings.failure_limit = 100;
  settings.warn = [&](std::string const& text) { warnings.push_back(text); };
  Statistics statistics(settings, io);
  record(statistics, 1, 5);
  statistics.flush();
  statistics.wait();
  fs::rename(folder / "statistics", folder / "away");
  record(statistics, 6, 30);  // several segments
  io.run(input::IoThread::Priority::statistics, [] {});
  fs::rename(folder / "away", folder / "statistics");
  record(statistics, 31, 34);
  statistics.flush();
  statistics.wait();
  CHECK_FALSE(warnings.empty());
  for (auto const& text : warnings) CHECK_THAT(text, ContainsSubstring("statistics/segment_00000"));
  check_shows(folder, 34);

  fs::rename(folder / "statistics", folder / "away");
  record(statistics, 35, 36);
  statistics.flush();
  CHECK_THROWS_WITH(statistics.wait(), ContainsSubstring("statistics/segment_00000"));  // the last attempt
}

TEST_CASE("A full disk ends statistics with an error that names the file") {
  TemporaryFolder const folder;
  input::IoThread io;
  Statistics statistics(options(folder), io);
  record(statistics, 1, 3);
  statistics.flush();
  statistics.wait();
  // A limit on file sizes simulates a full disk: the same calls fail.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  rlimit const small{1000, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    record(statistics, 4, 7);
    statistics.flush();
    statistics.wait();
  } catch (RuntimeError const& error) {
    message = error.what();
  }
  io.drain();  // a write after the one that was reported
  setrlimit(RLIMIT_FSIZE, &limit);
  CHECK_THAT(message, ContainsSubstring("statistics/segment_000000.h5.part"));
  check_shows(folder, 3);
}
