// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/statistics_segment.hpp"
#include "core/system/error.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/app/statistics/recorded_rows.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

#include <algorithm>
#include <filesystem>

using namespace bellwether;
using app::Statistics;
using Catch::Matchers::ContainsSubstring;
using input::Hdf5File;
using sample::check_shows;
using sample::column;
using sample::options;
using sample::record;

TEST_CASE("A resumed run removes rows after its step") {
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
  // Steps 1 and 2, then five attempts of step 3. The checkpoint was written after the second attempt.
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

TEST_CASE("A resumed run removes rows that were never published") {
  TemporaryFolder const folder;
  input::IoThread io;
  {
    Statistics statistics(options(folder), io);
    record(statistics, 1, 12);
    statistics.flush();
    statistics.wait();
  }
  // A process killed between the two renames leaves a segment that is newer than statistics.h5.
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

TEST_CASE("Statistics of another run are rejected") {
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

namespace {

/// Returns rows of a run whose steps take `seconds` each.
void record_steps(Statistics& statistics, std::int64_t first, std::int64_t last, double seconds, double& wall) {
  for (std::int64_t step = first; step <= last; ++step) {
    wall += seconds;
    app::StepRow row;
    row.step = step;
    row.samples = 10 * step;
    row.tokens = 100 * step;
    row.step_seconds = seconds;
    row.wall_seconds = wall;
    statistics.append(row);
  }
  statistics.flush();
  statistics.wait();
}

/// Records twenty steps in segments of eight.
double record_run(TemporaryFolder const& folder, input::IoThread& io, double seconds) {
  Statistics statistics(options(folder), io);
  double wall = 0;
  record_steps(statistics, 1, 20, seconds, wall);
  return wall;
}

std::string doubt_of(TemporaryFolder const& folder, input::IoThread& io, app::RecordPoint const& point) {
  auto settings = options(folder);
  settings.resume = point;
  return Statistics(settings, io).doubt();
}

}  // namespace

TEST_CASE("A record of another run is detected by its times") {
  TemporaryFolder const folder, other;
  input::IoThread io;
  double const wall = record_run(folder, io, 0.1);
  app::RecordPoint const point{.step = 20, .samples = 200, .tokens = 2000, .wall_seconds = wall};
  auto const segment = [](TemporaryFolder const& of) { return of / "statistics/segment_000001.h5"; };
  CHECK(doubt_of(folder, io, point).empty());
  record_run(other, io, 0.2);
  SECTION("all of it") {
    CHECK(doubt_of(other, io, point) == "its row of step 20 says 2000 tokens in 4 s, the checkpoint 2000 in 2 s");
  }
  SECTION("other tokens") {
    auto moved = point;
    moved.tokens = 1999;
    CHECK(doubt_of(folder, io, moved) == "its row of step 20 says 2000 tokens in 2 s, the checkpoint 1999 in 2 s");
  }
  SECTION("a segment in the middle") {
    std::filesystem::copy_file(segment(other), segment(folder), std::filesystem::copy_options::overwrite_existing);
    CHECK(doubt_of(folder, io, point) == "its row of step 9 does not follow on that of step 8");
  }
  SECTION("a segment twice") {
    std::filesystem::copy_file(folder / "statistics/segment_000000.h5", segment(folder),
                               std::filesystem::copy_options::overwrite_existing);
    CHECK(doubt_of(folder, io, point) == "its row of step 1 does not follow on that of step 8");
  }
  SECTION("a record that ends before the checkpoint is not detected") {
    auto later = point;
    later.step = 21;
    later.samples = 210;
    CHECK(doubt_of(folder, io, later).empty());
  }
}

TEST_CASE("A record that was truncated and continued belongs to one run") {
  TemporaryFolder const folder;
  input::IoThread io;
  record_run(folder, io, 0.1);
  double wall = 0;
  for (int step = 0; step < 12; ++step) wall += 0.1;
  auto settings = options(folder);
  settings.resume = app::RecordPoint{.step = 12, .samples = 120, .tokens = 1200, .wall_seconds = wall};
  {
    Statistics statistics(settings, io);
    CHECK(statistics.doubt().empty());
    record_steps(statistics, 13, 30, 0.3, wall);
  }
  CHECK(doubt_of(folder, io, {.step = 30, .samples = 300, .tokens = 3000, .wall_seconds = wall}).empty());
}

TEST_CASE("Segments suffice to resume, and a new run never overwrites them") {
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

TEST_CASE("A resume is rejected if segments with published rows are missing") {
  TemporaryFolder const folder;
  input::IoThread io;
  bool const with_rows = GENERATE(false, true);
  {
    Statistics statistics(options(folder), io);
    if (with_rows) record(statistics, 1, 30);
    statistics.flush();
    statistics.wait();
  }
  if (!with_rows) {  // nothing is lost: the folder is created again
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
                    ContainsSubstring("segment_000001.h5: missing, but later segments exist"));
  CHECK(std::filesystem::exists(folder / "statistics/segment_000002.h5"));
}

TEST_CASE("A truncated segment is detected") {
  TemporaryFolder const folder;
  input::IoThread io;
  {
    Statistics statistics(options(folder), io);
    record(statistics, 1, 30);
    statistics.flush();
    statistics.wait();
  }
  auto const segment = folder / "statistics/segment_000001.h5";
  std::filesystem::resize_file(segment, GENERATE(0U, 3000U));
  CHECK_THROWS_WITH(app::require_segments(folder / "statistics.h5"),
                    ContainsSubstring("statistics/segment_000001.h5: "));
  CHECK_THROWS_WITH(Statistics(options(folder, 30), io), ContainsSubstring("statistics/segment_000001.h5: ") &&
                                                             ContainsSubstring("the folder statistics out of"));
}

TEST_CASE("An older copy of a segment is detected") {
  TemporaryFolder const folder;
  input::IoThread io;
  auto const segment = folder / "statistics/segment_000000.h5", early = folder / "early.h5";
  {
    Statistics statistics(options(folder), io);
    record(statistics, 1, 4);
    statistics.flush();
    statistics.wait();
    std::filesystem::copy_file(segment, early);
    record(statistics, 5, 30);
    statistics.flush();
    statistics.wait();
  }
  app::require_segments(folder / "statistics.h5");
  std::filesystem::copy_file(early, segment, std::filesystem::copy_options::overwrite_existing);
  CHECK_THROWS_WITH(app::require_segments(folder / "statistics.h5"),
                    ContainsSubstring(segment + ": holds ") &&
                        ContainsSubstring("statistics.h5 shows 8; it is an older file or another run's"));
  CHECK_THROWS_WITH(Statistics(options(folder, 30), io),
                    ContainsSubstring(segment + ": holds ") && ContainsSubstring("the folder statistics out of"));
}

TEST_CASE("A segment that lacks a published quantity is detected") {
  TemporaryFolder const folder;
  input::IoThread io;
  {
    Statistics statistics(options(folder), io);
    record(statistics, 1, 30);
    statistics.flush();
    statistics.wait();
  }
  auto const segment = folder / "statistics/segment_000001.h5";
  {
    auto other = Hdf5File::create(segment);
    other.write<std::int64_t>("something", {1}, std::vector<std::int64_t>{1});
    other.close();
  }
  CHECK_THROWS_WITH(app::require_segments(folder / "statistics.h5"), ContainsSubstring(segment + ": holds 0 rows of "));
}

namespace {

/// Writes a segment again as version 0.1.0 wrote it: with another name of one column.
void write_as_before(std::string const& segment) {
  auto const aside = segment + ".old";
  std::filesystem::rename(segment, aside);
  auto const from = Hdf5File::open(aside);
  auto to = Hdf5File::create(segment);
  for (auto const* table : {"steps", "evaluation"}) {
    auto columns = from.read_table(table);
    for (auto& column : columns)
      if (column.name == "intra_node_bytes") column.name = "inside_node_bytes";
    to.write_table(table, columns);
  }
  to.write<std::int64_t>("layers/step", from.info("layers/step").shape, from.read<std::int64_t>("layers/step"));
  for (auto const& name : sample::quantities())
    to.write<float>("layers/" + name, from.info("layers/" + name).shape, from.read<float>("layers/" + name));
  for (auto const* object : {"steps", "evaluation", "layers"})
    to.set_attribute(object, "rows", *from.attribute(object, "rows"));
  to.set_attribute("/", "xxh3", *from.attribute("/", "xxh3"));
  to.close();
  std::filesystem::remove(aside);
}

}  // namespace

TEST_CASE("A resumed run gives the columns of its earlier segments the names of today") {
  std::int64_t const segments = GENERATE(1, 3);
  TemporaryFolder const folder;
  input::IoThread io;
  {
    Statistics statistics(options(folder), io);
    record(statistics, 1, 8 * segments);
    statistics.flush();
    statistics.wait();
  }
  for (std::int64_t index = 0; index < segments; ++index)
    write_as_before(folder / ("statistics/segment_00000" + std::to_string(index) + ".h5"));
  std::int64_t const kept = 8 * segments - GENERATE(0, 3);
  Statistics statistics(options(folder, kept), io);
  check_shows(folder, kept);
  record(statistics, kept + 1, 40);
  statistics.flush();
  statistics.wait();
  check_shows(folder, 40);
  auto const steps = Hdf5File::open(folder / "statistics.h5", input::VirtualData::show).read_table("steps");
  CHECK(column<std::int64_t>(steps, "intra_node_bytes").front() > 1000);
}
