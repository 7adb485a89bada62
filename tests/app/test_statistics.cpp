// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics.hpp"
#include "app/statistics_segment.hpp"
#include "core/error.hpp"
#include "input/hdf5_file.hpp"
#include "input/io_thread.hpp"
#include "tests/app/sample_rows.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
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

namespace {

app::StatisticsOptions options(TemporaryFolder const& folder, std::optional<std::int64_t> resume = std::nullopt) {
  return {.directory = folder.path(),
          .layers = sample::layer_names(),
          .quantities = sample::quantities(),
          .resume = resume ? std::optional(sample::point(*resume)) : std::nullopt,
          .flush_every = 3,
          .segment_rows = 8,
          .segment_layer_rows = 4};
}

/// Steps [first, last] as the trainer would record them: layers at even steps, an evaluation at multiples of 5.
void record(Statistics& statistics, std::int64_t first, std::int64_t last) {
  for (std::int64_t step = first; step <= last; ++step) {
    statistics.append(sample::step_row(step));
    if (step % 2 == 0) sample::append_layers(statistics, step);
    if (step % 5 == 0) statistics.append_evaluation(sample::evaluation_row(step));
  }
}

template <class T>
std::vector<T> column(std::vector<input::Column> const& table, std::string const& name) {
  for (auto const& candidate : table)
    if (candidate.name == name) return std::get<std::vector<T>>(candidate.values);
  throw std::runtime_error("no column " + name);
}

/// Checks that statistics.h5 shows exactly what record() made of steps 1 to `last`.
void check_shows(TemporaryFolder const& folder, std::int64_t last) {
  Hdf5File const file = Hdf5File::open(folder / "statistics.h5", input::VirtualData::show);
  auto const steps = file.read_table("steps");
  REQUIRE(steps.front().rows() == last);
  double offset = 0;
  for (auto const& values : steps) {
    for (std::int64_t r = 0; r < last; ++r) {
      double const expected = static_cast<double>(r + 1) + offset;
      auto const at = static_cast<std::size_t>(r);
      if (auto const* integers = std::get_if<std::vector<std::int64_t>>(&values.values))
        REQUIRE(static_cast<double>((*integers)[at]) == expected);
      else
        REQUIRE(std::get<std::vector<double>>(values.values)[at] == expected);
    }
    offset += 1000;
  }
  auto const evaluation = file.read_table("evaluation");
  REQUIRE(evaluation.front().rows() == last / 5);
  for (std::int64_t r = 0; r < last / 5; ++r) {
    CHECK(column<std::int64_t>(evaluation, "step")[static_cast<std::size_t>(r)] == 5 * (r + 1));
    CHECK(std::isnan(column<double>(evaluation, "nsp_loss")[static_cast<std::size_t>(r)]));
  }
  CHECK(file.read_texts("layers/name") == sample::layer_names());
  auto const layer_steps = file.read<std::int64_t>("layers/step");
  auto const trust = file.read<float>("layers/trust_ratio"), weights = file.read<float>("layers/weight_norm"),
             unmeasured = file.read<float>("layers/frozen_coefficient");
  REQUIRE(layer_steps.size() == static_cast<std::size_t>(last / 2));
  REQUIRE(file.info("layers/trust_ratio").shape == input::Shape{last / 2, 3});
  for (std::size_t r = 0; r < layer_steps.size(); ++r) {
    auto const step = static_cast<std::int64_t>(2 * (r + 1));
    CHECK(layer_steps[r] == step);
    for (std::size_t layer = 0; layer < 3; ++layer) {
      CHECK(trust[3 * r + layer] == sample::layer_values(step, 0)[layer]);
      CHECK(weights[3 * r + layer] == sample::layer_values(step, 0.25F)[layer]);
      CHECK(std::isnan(unmeasured[3 * r + layer]));
    }
  }
}

}  // namespace

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

TEST_CASE("Statistics are written every so many steps, however few rows these have") {
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

TEST_CASE("A resumed run cuts rows beyond its step") {
  std::int64_t const resume = GENERATE(0, 1, 7, 8, 9, 16, 20, 30, 31);
  TemporaryFolder const folder;
  input::IoThread io;
  {
    Statistics statistics(options(folder), io);
    record(statistics, 1, 30);
    statistics.flush();
    statistics.wait();
  }
  Statistics statistics(options(folder, resume), io);
  std::int64_t const kept = std::min<std::int64_t>(resume, 30);
  CHECK(statistics.last_step().value_or(0) == kept);
  check_shows(folder, kept);
  record(statistics, kept + 1, 40);
  statistics.flush();
  statistics.wait();
  check_shows(folder, 40);
}

TEST_CASE("A resumed run keeps rows of steps that were skipped before its checkpoint") {
  TemporaryFolder const folder;
  input::IoThread io;
  // Steps 1 and 2, then step 3 tried five times: the checkpoint was written after the second attempt.
  auto const row = [](std::int64_t step, std::int64_t samples) {
    app::StepRow made;
    made.step = step;
    made.samples = samples;
    made.skipped = step > 2 ? 1 : 0;
    return made;
  };
  auto settings = options(folder);
  settings.segment_rows = GENERATE(1, 3, 4, 8);
  {
    Statistics statistics(settings, io);
    for (std::int64_t i = 1; i <= 7; ++i) statistics.append(row(std::min<std::int64_t>(i, 3), 10 * i));
    statistics.flush();
    statistics.wait();
  }
  settings.resume = app::RecordPoint{.step = 2, .samples = 40};
  Statistics statistics(settings, io);
  auto const steps = Hdf5File::open(folder / "statistics.h5", input::VirtualData::show).read_table("steps");
  CHECK(column<std::int64_t>(steps, "samples") == std::vector<std::int64_t>{10, 20, 30, 40});
  CHECK(column<std::int64_t>(steps, "step") == std::vector<std::int64_t>{1, 2, 3, 3});
  CHECK(column<std::int64_t>(steps, "skipped") == std::vector<std::int64_t>{0, 0, 1, 1});
}

TEST_CASE("A resumed run cuts rows that were never shown") {
  TemporaryFolder const folder;
  input::IoThread io;
  {
    Statistics statistics(options(folder), io);
    record(statistics, 1, 12);
    statistics.flush();
    statistics.wait();
  }
  // A process killed between the two renames leaves a segment that is newer than what statistics.h5 shows.
  std::filesystem::copy_file(folder / "statistics.h5", folder / "kept.h5");
  {
    Statistics statistics(options(folder, 12), io);
    record(statistics, 13, 20);
    statistics.flush();
    statistics.wait();
  }
  std::filesystem::rename(folder / "kept.h5", folder / "statistics.h5");
  Statistics statistics(options(folder, 12), io);
  record(statistics, 13, 22);
  statistics.flush();
  statistics.wait();
  check_shows(folder, 22);
}

TEST_CASE("Statistics of another run are refused") {
  TemporaryFolder const folder;
  input::IoThread io;
  CHECK_THROWS_AS(Statistics(options(folder, 5), io), InputError);
  { Statistics const statistics(options(folder), io); }
  CHECK_THROWS_WITH(Statistics(options(folder), io), ContainsSubstring("exists already"));
  auto other = options(folder, 0);
  other.layers.pop_back();
  CHECK_THROWS_WITH(Statistics(other, io), ContainsSubstring("layers/name"));
  other = options(folder, 0);
  other.quantities.back() = "update_norm";
  CHECK_THROWS_WITH(Statistics(other, io),
                    ContainsSubstring("statistics.h5: layers holds frozen_coefficient, trust_ratio, weight_norm, but "
                                      "this run measures trust_ratio, update_norm, weight_norm; resume with"));
  CHECK_THROWS_AS(Statistics(other, io), InputError);
}

TEST_CASE("Only the quantities that a run names are kept of its layers") {
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

TEST_CASE("What was sent is shown by phase as it was last counted, and goes on from what a resumed run says") {
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
    statistics.count(totals);  // without a row: statistics.every leaves out steps
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

TEST_CASE("A row of a step says what is not known") {
  app::StepRow const row;
  for (auto const value : {row.loss, row.mlm_accuracy, row.learning_rate, row.gradient_norm}) CHECK(std::isnan(value));
  CHECK((row.phase == 0 && row.compressed_bytes == 0 && row.scalar_bytes == 0 && row.dense_bytes_fp32 == 0));
}

TEST_CASE("Segments alone are enough to resume, and are never written over by a new run") {
  TemporaryFolder const folder;
  input::IoThread io;
  CHECK(app::recorded_statistics(folder.path()) == app::Recorded::nothing);
  {
    Statistics statistics(options(folder), io);
    CHECK(app::recorded_statistics(folder.path()) == app::Recorded::no_rows);
    record(statistics, 1, 30);
    statistics.flush();
    statistics.wait();
  }
  std::filesystem::remove(folder / "statistics.h5");
  CHECK(app::recorded_statistics(folder.path()) == app::Recorded::rows);
  CHECK_THROWS_WITH(Statistics(options(folder), io), ContainsSubstring("segment_000000.h5: exists already"));
  auto other = options(folder, 20);
  other.quantities.pop_back();
  CHECK_THROWS_WITH(Statistics(other, io), ContainsSubstring("segment_000000.h5: layers holds"));
  Statistics statistics(options(folder, 20), io);
  check_shows(folder, 20);
  record(statistics, 21, 40);
  statistics.flush();
  statistics.wait();
  check_shows(folder, 40);
}

TEST_CASE("A resumed run is refused where segments are missing whose rows are shown") {
  TemporaryFolder const folder;
  input::IoThread io;
  bool const with_rows = GENERATE(false, true);
  {
    Statistics statistics(options(folder), io);
    if (with_rows) record(statistics, 1, 30);
    statistics.flush();
    statistics.wait();
  }
  if (!with_rows) {  // nothing is lost with the folder: it is made again
    std::filesystem::remove_all(folder / "statistics");
    Statistics statistics(options(folder, 0), io);
    CHECK(std::filesystem::is_directory(folder / "statistics"));
    return;
  }
  app::require_segments(folder / "statistics.h5");
  std::filesystem::remove(folder / "statistics/segment_000001.h5");
  CHECK_THROWS_WITH(app::require_segments(folder / "statistics.h5"),
                    ContainsSubstring("statistics/segment_000001.h5: missing, but"));
  CHECK_THROWS_AS(Statistics(options(folder, 30), io), InputError);
  std::filesystem::remove(folder / "statistics.h5");
  CHECK_THROWS_WITH(Statistics(options(folder, 30), io),
                    ContainsSubstring("segment_000001.h5: missing, but there are"));
  CHECK(std::filesystem::exists(folder / "statistics/segment_000002.h5"));
}

TEST_CASE("A run's name is on record") {
  TemporaryFolder const folder;
  input::IoThread io;
  auto named = options(folder);
  named.run_name = "a first try";
  Statistics const statistics(named, io);
  CHECK(Hdf5File::open(folder / "statistics.h5", input::VirtualData::show).attribute("/", "run_name") ==
        Hdf5File::Attribute(std::string("a first try")));
}

TEST_CASE("What cannot be written for a while is written later, without a hole") {
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
  CHECK_THROWS_WITH(statistics.wait(), ContainsSubstring("statistics/segment_00000"));  // the last chance
}

TEST_CASE("A full disk ends statistics with the name of the file") {
  TemporaryFolder const folder;
  input::IoThread io;
  Statistics statistics(options(folder), io);
  record(statistics, 1, 3);
  statistics.flush();
  statistics.wait();
  // A limit on file sizes stands in for a full disk: the same calls fail.
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
  io.drain();  // a later write than the one that was told of
  setrlimit(RLIMIT_FSIZE, &limit);
  CHECK_THAT(message, ContainsSubstring("statistics/segment_000000.h5.part"));
  check_shows(folder, 3);
}
