// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_folder.hpp"
#include "app/commands/inspect.hpp"
#include "core/system/error.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/app/statistics/sample_rows.hpp"
#include "tests/input/shards/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>

using namespace bellwether;
using namespace bellwether::app;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string inspected(std::string const& path, InspectOptions const& options = {}) {
  std::ostringstream out;
  inspect(path, options, out);
  return out.str();
}

}  // namespace

TEST_CASE("inspect prints the contents of a shard", "[inspect]") {
  TemporaryFolder const folder;
  write_shard(folder / "a.h5", small_format(true), 0, 21);
  auto recorded = small_format(false);
  recorded.vocabulary_checksum = "0123456789abcdef";
  write_shard(folder / "b.h5", recorded, 0, 3);
  auto const one = inspected(folder / "a.h5", {.rows = 1});
  CHECK_THAT(one, ContainsSubstring("a.h5: Bellwether shard"));
  CHECK_THAT(one, ContainsSubstring("rows                21\n"));
  CHECK_THAT(one, ContainsSubstring("static, 2.00 a row"));
  CHECK_THAT(one, ContainsSubstring("random next         33.3 %"));
  CHECK_THAT(one, ContainsSubstring("[CLS] 1, [SEP] 2, [MASK] 3"));
  // Row 0 has 6 tokens: [CLS], a masked one, [SEP], two tokens, [SEP].
  CHECK_THAT(one, ContainsSubstring("row 0 (random next)\n  ids       1 3 2 13 14 2\n  segments  0 0 0 1 1 1\n"
                                    "  masked at 1\n  original  11\n"));
  auto const both = inspected(folder.path());
  CHECK_THAT(both, ContainsSubstring("a.h5: Bellwether shard") && ContainsSubstring("b.h5: Bellwether shard") &&
                       ContainsSubstring("dynamic: drawn at training time") &&
                       ContainsSubstring("vocabulary xxh3     0123456789abcdef\n"));
}

TEST_CASE("inspect prints the contents of other files", "[inspect]") {
  TemporaryFolder const folder;
  auto file = input::Hdf5File::create(folder / "replicated.h5");
  file.set_attribute("/", "format", "bellwether checkpoint");
  file.set_attribute("/", "step", std::int64_t{40});
  file.write<float>("parameters/pooler", {2, 2}, std::vector<float>{1, -1, 1, -1});
  file.write_texts("deck", {"run:\n  seed: 7\n"});
  file.write_table("steps", {{"step", std::vector<std::int64_t>{1, 2}}, {"loss", std::vector<double>{9, 8.5}}});
  file.write<std::int64_t>("data/tokens", {}, std::vector<std::int64_t>{1234567});
  file.write<double>("data/wall_seconds", {}, std::vector<double>{12.5});
  file.close();
  auto const text = inspected(folder / "replicated.h5", {.show_deck = true});
  CHECK_THAT(text, ContainsSubstring("/data/tokens  int64 ()  = 1234567\n"));
  CHECK_THAT(text, ContainsSubstring("/data/wall_seconds  float64 ()  = 12.5\n"));
  CHECK_THAT(text, ContainsSubstring("replicated.h5: bellwether checkpoint"));
  CHECK_THAT(text, ContainsSubstring("/@step = 40\n"));
  CHECK_THAT(text, ContainsSubstring("/parameters/pooler  float32 (2, 2)  rms 1\n"));
  CHECK_THAT(text,
             ContainsSubstring("steps: 2 rows, the last one:\n  step                2\n  loss                8.5\n"));
  CHECK_THAT(text, ContainsSubstring("  seed: 7\n"));
  CHECK_THROWS_AS(inspected(folder / "nothing.h5"), InputError);
}

TEST_CASE("inspect counts written rows of statistics, not the capacity of segments", "[inspect]") {
  TemporaryFolder const folder;
  input::IoThread io;
  StatisticsOptions options;
  options.directory = folder.path();
  options.run.name = "a first try";
  options.layers = sample::layer_names();
  options.quantities = {"weight_norm"};
  options.segment_rows = 8;
  Statistics statistics(options, io);
  std::vector<float> const norms{2, 2, 2};
  for (std::int64_t step = 1; step <= 10; ++step) {
    statistics.append(sample::step_row(step));
    statistics.append_layers(step, std::array<std::span<float const>, 1>{norms});
  }
  statistics.flush();
  statistics.wait();
  auto const last = inspected(folder / "statistics/segment_000001.h5");
  CHECK_THAT(last, ContainsSubstring("/steps  compound (8), 2 rows in use\n"));
  CHECK_THAT(last, ContainsSubstring("/layers/weight_norm  float32 (1024, 3), 3 rows in use  rms 2\n"));
  CHECK_THAT(last, ContainsSubstring("steps: 2 rows, the last one:\n  step                10\n"));
  CHECK_THAT(last, ContainsSubstring("evaluation: 0 rows\n"));
  auto const all = inspected(folder / "statistics.h5");
  CHECK_THAT(all, ContainsSubstring("/@run_name = a first try\n"));
  CHECK_THAT(all, ContainsSubstring("steps: 10 rows, the last one:\n  step                10\n"));
  // HDF5 would return zeros for a copy without its segments.
  std::filesystem::create_directory(folder / "copy");
  std::filesystem::copy_file(folder / "statistics.h5", folder / "copy/statistics.h5");
  std::ostringstream out;
  CHECK_THROWS_WITH(inspect(folder / "copy/statistics.h5", {}, out),
                    ContainsSubstring("copy/statistics/segment_000000.h5: missing"));
  CHECK(out.str().empty());
}

TEST_CASE("inspect escapes control characters in names, and prints only the last row of a table", "[inspect]") {
  TemporaryFolder const folder;
  auto file = input::Hdf5File::create(folder / "names.h5");
  file.set_attribute("/", "note\x1b[2J", "one\ntwo");
  file.write<std::int64_t>("line\nbreak", {}, std::vector<std::int64_t>{7});
  file.write_table("steps", {{"step", std::vector<std::int64_t>{1}}}, std::int64_t{1} << 40);
  file.close();
  auto const text = inspected(folder / "names.h5");
  CHECK_THAT(text, ContainsSubstring("/@note\\x1b[2J = one\\x0atwo\n"));
  CHECK_THAT(text, ContainsSubstring("/line\\x0abreak  int64 ()  = 7\n"));
  CHECK_THAT(text, ContainsSubstring("steps: 1099511627776 rows, the last one:\n  step                0\n"));
}

TEST_CASE("inspect lists checkpoints", "[inspect]") {
  TemporaryFolder const folder;
  CheckpointFolder const checkpoints(folder.path());
  for (std::int64_t const step : {5, 10}) {
    checkpoints.prepare(step);
    for (auto const& [name, bytes] : {std::pair{"/replicated.h5", 1000}, {"/rank0.h5", 24}})
      std::ofstream(checkpoints.temporary_path(step) + name) << std::string(static_cast<std::size_t>(bytes), 'x');
    checkpoints.complete({step, 2, {{"replicated.h5", 1000, "0"}, {"rank0.h5", 24, "0"}}});
  }
  checkpoints.prepare(15);
  std::filesystem::remove(folder / "checkpoints/step_5/manifest");
  auto const text = inspected(folder / "checkpoints/");
  CHECK_THAT(text, ContainsSubstring("checkpoints/: 2 checkpoints\n"));
  CHECK_THAT(text, ContainsSubstring("  step_10             of 2 ranks, ") && ContainsSubstring(" in 2 files\n"));
  CHECK_THAT(text,
             ContainsSubstring("  step_5              not complete: ") && ContainsSubstring("manifest: missing\n"));
  CHECK_THAT(text, ContainsSubstring("  step_15.part        not complete: its writing did not end\n"));
  std::filesystem::resize_file(folder / "checkpoints/step_10/rank0.h5", 5);
  CHECK_THAT(inspected(folder / "checkpoints/"),
             ContainsSubstring("  step_10             not complete: rank0.h5: 5 bytes, the manifest says 24\n"));
}

TEST_CASE("inspect does not mention a model if an id is out of range", "[inspect]") {
  TemporaryFolder const folder;
  auto file = input::Hdf5File::create(folder / "foreign.h5");
  std::vector<std::int64_t> const row{1, 1, 1, 1};
  for (char const* name : {"input_mask", "segment_ids"}) file.write<std::int64_t>(name, {1, 4}, row);
  for (char const* name : {"masked_lm_positions", "masked_lm_ids"})
    file.write<std::int64_t>(name, {1, 1}, std::vector<std::int64_t>{0});
  file.write<std::int64_t>("next_sentence_labels", {1}, std::vector<std::int64_t>{0});
  file.write<std::int64_t>("input_ids", {1, 4}, std::vector<std::int64_t>{1, -1, 5, 2});
  file.close();
  CHECK_THROWS_WITH(
      inspected(folder / "foreign.h5"),
      ContainsSubstring("'input_ids', row 0, column 1: -1; allowed: 0 to 2147483646") && !ContainsSubstring("model"));
}
