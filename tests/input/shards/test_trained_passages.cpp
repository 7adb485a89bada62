// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/shards.hpp"
#include "input/shards/trained_passages.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>

using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

ShardFormat format_of(bool static_masks) {
  return {.sequence_length = 64,
          .masked_length = 4,
          .vocabulary = 1000,
          .static_masks = static_masks,
          .special = {.classify = 1, .separate = 2, .mask = 3}};
}

/// Returns token number `at` of a text without repetition.
std::int32_t token(std::int64_t at) {
  auto mixed = (static_cast<std::uint64_t>(at) + 1) * 0x9E3779B97F4A7C15;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return static_cast<std::int32_t>(10 + (mixed >> 40) % 990);
}

/// Returns a row: [CLS], `first` tokens of the text from `at` on, [SEP], the following tokens that fit, [SEP].
Sample row(std::int64_t at, std::int64_t first, ShardFormat const& format) {
  Sample sample;
  for (std::int64_t s = 0; s < format.sequence_length; ++s) {
    bool const end = s == first + 1 || s == format.sequence_length - 1;
    sample.token_ids.push_back(s == 0 ? 1 : end ? 2 : token(at++));
    sample.segment_ids.push_back(s > first + 1 ? 1 : 0);
  }
  if (!format.static_masks) return sample;
  for (std::int32_t s = 5; s < 9; ++s) {
    auto& id = sample.token_ids[static_cast<std::size_t>(s)];
    sample.masked_positions.push_back(s);
    sample.masked_ids.push_back(id);
    id = 3;
  }
  return sample;
}

/// Returns the text [begin, begin + 60 * rows) in rows.
OpenedShard write(std::string const& path, std::int64_t begin, std::int64_t rows, std::int64_t first = 30,
                  bool static_masks = false) {
  auto const format = format_of(static_masks);
  ShardWriter writer(path, format, 64);
  for (std::int64_t r = 0; r < rows; ++r) writer.append(row(begin + 60 * r, first, format));
  writer.close();
  return {.path = path, .rows = rows, .sequence_length = format.sequence_length};
}

std::string doubt(std::vector<OpenedShard> const& train, std::vector<OpenedShard> const& heldout) {
  return trained_passages(train, heldout);
}

}  // namespace

TEST_CASE("held-out rows of other text give no warning", "[passages]") {
  TemporaryFolder const folder;
  auto const train = write(folder / "train.h5", 0, 300), heldout = write(folder / "heldout.h5", 18000, 100);
  CHECK(doubt({train}, {heldout}).empty());
}

TEST_CASE("held-out rows whose text is trained on are reported with their number", "[passages]") {
  TemporaryFolder const folder;
  auto const train = write(folder / "a.h5", 0, 150), more = write(folder / "b.h5", 9000, 150);
  bool const static_masks = GENERATE(false, true);
  SECTION("rows of a shard") {
    CHECK_THAT(doubt({train, more}, {write(folder / "h.h5", 9000, 100, 30, static_masks)}),
               StartsWith("100 of the 100 held-out rows that were compared are trained on, too: "));
  }
  SECTION("text that was split and paired differently") {
    auto const told = doubt({train, more}, {write(folder / "h.h5", 4023, 100, 20, static_masks)});
    CHECK_THAT(told, ContainsSubstring(" of the 100 held-out rows that were compared"));
    CHECK(std::stoi(told) > 90);
    CHECK(
        told.ends_with("make both sets with one call of `prepare --heldout`, and remove near-duplicates and repeated "
                       "passages from the "
                       "text before it"));
  }
  SECTION("in part") {
    CHECK_THAT(doubt({train}, {write(folder / "h.h5", 8400, 100, 30, static_masks)}),
               StartsWith("10 of the 100 held-out rows that were compared"));
  }
}

TEST_CASE("a few repeated held-out rows give no warning", "[passages]") {
  TemporaryFolder const folder;
  auto const train = write(folder / "a.h5", 0, 150);
  CHECK(doubt({train}, {write(folder / "h.h5", 8760, 100)}).empty());
}

TEST_CASE("of many held-out rows a sample over all shards is searched", "[passages]") {
  TemporaryFolder const folder;
  auto const train = write(folder / "a.h5", 0, 1024);
  auto const known = write(folder / "h0.h5", 0, 1024), other = write(folder / "h1.h5", 70000, 1024);
  CHECK_THAT(doubt({train}, {known, other}), StartsWith("256 of the 512 held-out rows that were compared"));
}

TEST_CASE("rows without passages and shards that cannot be read are skipped", "[passages]") {
  TemporaryFolder const folder;
  auto const train = write(folder / "a.h5", 0, 20), heldout = write(folder / "h.h5", 0, 10);
  auto const short_rows = format_of(false);
  {
    ShardWriter writer(folder / "short.h5", short_rows);
    Sample sample;
    sample.token_ids = {1, 11, 12, 2, 13, 2};
    sample.segment_ids = {0, 0, 0, 0, 1, 1};
    writer.append(sample);
    writer.close();
  }
  OpenedShard const brief{.path = folder / "short.h5", .rows = 1, .sequence_length = 64};
  CHECK(doubt({brief}, {brief}).empty());
  std::ofstream(folder / "bad.h5") << "x";
  OpenedShard const bad{.path = folder / "bad.h5", .rows = 20, .sequence_length = 64};
  CHECK(doubt({bad, train}, {heldout})
            .starts_with("10 of the 10 held-out rows that were compared are trained on, too, judging from 20 of the 40 "
                         "rows of data.train: "));
  CHECK(doubt({train}, {bad}).empty());
}
