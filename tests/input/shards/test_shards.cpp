// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/deck/shard_files.hpp"
#include "input/shards/shards.hpp"
#include "tests/input/shards/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <fstream>

using namespace bellwether;
using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

constexpr ShardBounds bounds{.vocabulary = 100, .segments = 2};

/// A shard of another program: plain data sets, no attributes, wider integers, and two rows that a test can corrupt.
struct ForeignShard {
  std::vector<std::int64_t> ids{1, 11, 12, 2, 0, 0, 1, 3, 14, 15, 16, 2};
  std::vector<std::uint16_t> mask{1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1};
  std::vector<std::int32_t> segments{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
  std::vector<std::uint8_t> positions{2, 0, 1, 4};
  std::vector<std::int64_t> masked{12, 0, 13, 16};
  std::vector<std::int64_t> next{0, 1};
  bool with_next = true;

  void write(std::string const& path) const {
    auto file = Hdf5File::create(path);
    file.write<std::int64_t>("input_ids", {2, 6}, ids);
    file.write<std::uint16_t>("input_mask", {2, 6}, mask);
    file.write<std::int32_t>("segment_ids", {2, 6}, segments, {.chunk = {1, 3}, .gzip = 4});
    file.write<std::uint8_t>("masked_lm_positions", {2, 2}, positions);
    file.write<std::int64_t>("masked_lm_ids", {2, 2}, masked);
    if (with_next) file.write<std::int64_t>("next_sentence_labels", {2}, next);
    file.close();
  }
};

}  // namespace

TEST_CASE("a shard reads back as written", "[shards]") {
  TemporaryFolder const folder;
  bool const static_masks = GENERATE(true, false);
  ShardFormat const format = small_format(static_masks);
  write_shard(folder / "a.h5", format, 0, 21);
  CHECK(!std::filesystem::exists(folder / "a.h5.partial"));
  ShardReader const reader(folder / "a.h5");
  CHECK(reader.rows() == 21);
  CHECK(reader.chunk_rows() == 8);
  CHECK(reader.format().sequence_length == 16);
  CHECK(reader.format().masked_length == 3);
  CHECK(reader.format().vocabulary == 100);
  CHECK(reader.format().static_masks == static_masks);
  CHECK(reader.format().special.mask == 3);
  ShardRows const rows = reader.read(5, 14, bounds);
  REQUIRE(rows.rows == 14);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    Sample const sample = sample_of(5 + r, format);
    auto const at = static_cast<std::size_t>(r);
    REQUIRE(static_cast<std::size_t>(rows.lengths[at]) == sample.token_ids.size());
    for (std::size_t s = 0; s < sample.token_ids.size(); ++s) {
      CHECK(rows.token_ids[at * 16 + s] == sample.token_ids[s]);
      CHECK(rows.segment_ids[at * 16 + s] == sample.segment_ids[s]);
    }
    CHECK(rows.next_labels[at] == (sample.random_next ? 1 : 0));
    if (!static_masks) continue;
    REQUIRE(static_cast<std::size_t>(rows.predictions[at]) == sample.masked_positions.size());
    for (std::size_t p = 0; p < sample.masked_positions.size(); ++p) {
      CHECK(rows.masked_positions[at * 3 + p] == sample.masked_positions[p]);
      CHECK(rows.masked_ids[at * 3 + p] == sample.masked_ids[p]);
    }
  }
  auto const file = Hdf5File::open(folder / "a.h5");
  CHECK(file.info("masked_lm_ids").shape == Shape{21, 3});  // other readers expect all six data sets, with N rows
  CHECK(file.info("input_ids").gzip);
}

TEST_CASE("a shard that is not closed leaves no file", "[shards]") {
  TemporaryFolder const folder;
  {
    ShardWriter writer(folder / "a.h5", small_format(true));
    writer.append(sample_of(0, small_format(true)));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a sample that violates the format is rejected", "[shards]") {
  TemporaryFolder const folder;
  ShardWriter writer(folder / "a.h5", small_format(true));
  Sample sample = sample_of(0, small_format(true));
  sample.segment_ids.pop_back();
  CHECK_THROWS_AS(writer.append(sample), InternalError);
  sample.token_ids.resize(17);
  sample.segment_ids.resize(17);
  CHECK_THROWS_AS(writer.append(sample), InternalError);
}

TEST_CASE("shards of other programs are read", "[shards]") {
  TemporaryFolder const folder;
  ForeignShard{}.write(folder / "f.hdf5");
  ShardReader const reader(folder / "f.hdf5");
  CHECK(reader.format().static_masks);
  CHECK(reader.format().vocabulary == 0);
  ShardRows const rows = reader.read(0, 2, bounds);
  CHECK(rows.lengths == std::vector<std::int32_t>{4, 6});
  CHECK(rows.predictions == std::vector<std::int32_t>{1, 2});
  CHECK(rows.masked_ids == std::vector<std::int32_t>{12, 0, 13, 16});
}

TEST_CASE("values out of range are reported with file, data set, row and column", "[shards]") {
  TemporaryFolder const folder;
  std::string const path = folder / "f.h5";
  ForeignShard shard;
  std::string expected;
  SECTION("token id") {
    shard.ids[9] = 100;
    expected = "'input_ids', row 1, column 3: 100; allowed: 0 to 99";
  }
  SECTION("token id beyond 32 bits") {
    shard.ids[9] = 1ll << 40;
    expected = "'input_ids', row 1, column 3: 1099511627776; allowed: 0 to 99 (the model's vocabulary)";
  }
  SECTION("negative token id") {
    shard.ids[0] = -1;
    expected = "'input_ids', row 0, column 0: -1";
  }
  SECTION("mask value") {
    shard.mask[7] = 2;
    expected = "'input_mask', row 1, column 1: 2; allowed: 0, 1";
  }
  SECTION("mask with a hole") {
    shard.mask[7] = 0;
    expected = "'input_mask', row 1, column 2: 1; allowed: 0: ones come first";
  }
  SECTION("empty row") {
    std::fill_n(shard.mask.begin(), 6, std::uint16_t{0});
    expected = "'input_mask', row 0, column 0: 0";
  }
  SECTION("segment") {
    shard.segments[11] = 2;
    expected = "'segment_ids', row 1, column 5: 2; allowed: 0 to 1";
  }
  SECTION("position on padding") {
    shard.positions[0] = 4;
    expected = "'masked_lm_positions', row 0, column 0: 4; allowed: 1 to 3";
  }
  SECTION("positions out of order") {
    shard.positions = {2, 0, 4, 4};
    expected = "'masked_lm_positions', row 1, column 1: 4; allowed: more than 4";
  }
  SECTION("label id") {
    shard.masked[3] = 1000;
    expected = "'masked_lm_ids', row 1, column 1: 1000";
  }
  SECTION("next label") {
    shard.next[1] = 3;
    expected = "'next_sentence_labels', row 1: 3; allowed: 0, 1";
  }
  shard.write(path);
  CHECK_THROWS_MATCHES(ShardReader(path).read(0, 2, bounds), InputError,
                       MessageMatches(ContainsSubstring(path + ": data set " + expected)));
}

TEST_CASE("missing or misshapen data sets are reported by name", "[shards]") {
  TemporaryFolder const folder;
  ForeignShard shard;
  shard.with_next = false;
  shard.write(folder / "a.h5");
  CHECK_THROWS_MATCHES(ShardReader(folder / "a.h5"), InputError,
                       MessageMatches(ContainsSubstring("a.h5: data set 'next_sentence_labels': not found")));
  auto file = Hdf5File::create(folder / "b.h5");
  file.write<float>("input_ids", {1, 1}, std::vector<float>{1});
  file.close();
  CHECK_THROWS_MATCHES(ShardReader(folder / "b.h5"), InputError, MessageMatches(ContainsSubstring("holds float32")));
}

TEST_CASE("folders are searched for shards", "[shards]") {
  TemporaryFolder const folder;
  for (char const* name : {"b.h5", "a.hdf5", "c.txt"}) std::ofstream(folder / name) << "x";
  CHECK(find_shards({folder.path()}) == std::vector<std::string>{folder / "a.hdf5", folder / "b.h5"});
  CHECK(find_shards({folder / "c.txt"}) == std::vector<std::string>{folder / "c.txt"});
  try {
    find_shards({folder / "none", folder / "neither"});
    FAIL("accepted");
  } catch (InputError const& error) {
    CHECK(error.faults().size() == 2);
  }
}
