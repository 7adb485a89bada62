// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Values of shards that are each in range but contradict each other.
#include "core/system/error.hpp"
#include "input/shards/shards.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <functional>

using namespace bellwether;
using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

using Values = std::vector<std::int64_t>;

/// Two rows of eight columns and up to five predictions, which a test corrupts.
struct WrittenShard {
  Values ids{1, 11, 12, 13, 14, 2, 0, 0, 1, 15, 16, 2, 17, 18, 19, 2};
  Values mask{1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  Values segments{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
  Values positions{2, 3, 0, 0, 0, 1, 2, 4, 5, 6};
  Values masked{12, 13, 0, 0, 0, 15, 16, 17, 18, 19};
  Values next{0, 1};
  std::vector<std::string> unwritten;  ///< data sets that are created but never written
  std::function<void(Hdf5File&)> attributes = [](Hdf5File&) {};

  ShardReader written(std::string const& path) const {
    auto file = Hdf5File::create(path);
    auto const put = [&](char const* name, Shape const& shape, Values const& values) {
      if (std::ranges::count(unwritten, name) > 0)
        file.create_data_set(name, ElementType::i64, shape);
      else
        file.write<std::int64_t>(name, shape, values);
    };
    put("input_ids", {2, 8}, ids);
    put("input_mask", {2, 8}, mask);
    put("segment_ids", {2, 8}, segments);
    put("masked_lm_positions", {2, 5}, positions);
    put("masked_lm_ids", {2, 5}, masked);
    put("next_sentence_labels", {2}, next);
    attributes(file);
    file.close();
    return ShardReader(path);
  }
};

ShardRows rows_of(WrittenShard const& shard) {
  TemporaryFolder const folder;
  return shard.written(folder / "a.h5").read(0, 2, {.vocabulary = 100, .segments = 2});
}

void refused(WrittenShard const& shard, std::string const& what) {
  CHECK_THROWS_MATCHES(rows_of(shard), InputError, MessageMatches(ContainsSubstring(what)));
}

/// Writes the attributes that `prepare` writes.
void write_attributes(Hdf5File& file) {
  file.set_attribute("/", "format", "bellwether shard");
  file.set_attribute("/", "format_version", "1.0");
  file.set_attribute("/", "masking", "static");
  file.set_attribute("/", "vocabulary_size", std::int64_t{100});
  file.set_attribute("/", "sequence_length", std::int64_t{8});
  file.set_attribute("/", "max_predictions", std::int64_t{5});
  file.set_attribute("/", "cls_id", std::int64_t{1});
  file.set_attribute("/", "sep_id", std::int64_t{2});
  file.set_attribute("/", "mask_id", std::int64_t{3});
}

}  // namespace

TEST_CASE("a consistent shard is read", "[shard rows]") {
  auto const rows = rows_of({});
  CHECK(rows.lengths == std::vector<std::int32_t>{6, 8});
  CHECK(rows.predictions == std::vector<std::int32_t>{2, 5});
}

TEST_CASE("tokens that the mask omits are reported", "[shard rows]") {
  WrittenShard shard;
  SECTION("one after the padding") {
    shard.ids[7] = 9;
    refused(shard,
            "'input_ids', row 0, column 7: 9; allowed: 0, the padding: input_mask says that the row's tokens end "
            "at column 5");
  }
  SECTION("the end of a row") {
    std::fill(shard.mask.begin() + 12, shard.mask.end(), 0);
    shard.positions = {2, 3, 0, 0, 0, 1, 2, 0, 0, 0};
    shard.masked = {12, 13, 0, 0, 0, 15, 16, 0, 0, 0};
    refused(shard, "'input_ids', row 1, column 4: 17; allowed: 0, the padding");
  }
}

TEST_CASE("padding may have any id, the same in all rows", "[shard rows]") {
  WrittenShard shard;
  shard.ids[6] = shard.ids[7] = 5;
  CHECK(rows_of(shard).lengths == std::vector<std::int32_t>{6, 8});
}

TEST_CASE("padding that the mask counts as tokens is reported", "[shard rows]") {
  WrittenShard shard;
  shard.ids = {1, 11, 12, 13, 2, 0, 0, 0, 1, 15, 16, 2, 17, 18, 19, 2};
  std::ranges::fill(shard.mask, 1);
  refused(shard, "'input_mask', row 0, column 7: 1; allowed: 0: input_ids holds padding there, 0");
  shard.ids[4] = 0;
  shard.ids[5] = 2;  // a padding token in the text, and a row that ends in two of them
  CHECK(rows_of(shard).lengths == std::vector<std::int32_t>{8, 8});
}

TEST_CASE("predictions after a position 0 are reported", "[shard rows]") {
  WrittenShard shard;
  SECTION("a hole in the list") {
    shard.positions = {2, 0, 3, 0, 0, 1, 2, 4, 5, 6};
    refused(shard,
            "'masked_lm_positions', row 0, column 2: 3; allowed: 0: the predictions of a row end at its first "
            "position 0, in column 1");
  }
  SECTION("a list that begins at position 0") {
    shard.positions = {0, 2, 3, 0, 0, 1, 2, 4, 5, 6};
    refused(shard, "'masked_lm_positions', row 0, column 1: 2; allowed: 0");
  }
  SECTION("only position 0") {
    shard.positions = {0, 0, 0, 0, 0, 1, 2, 4, 5, 6};
    refused(shard, "'masked_lm_ids', row 0, column 0: 12; allowed: 0: position 0 is [CLS], which is never predicted");
  }
}

TEST_CASE("the rest of a list of predictions may be filled as in other programs", "[shard rows]") {
  WrittenShard shard;
  SECTION("with -1") { std::fill_n(shard.masked.begin() + 2, 3, -1); }
  SECTION("with -100") { std::fill_n(shard.masked.begin() + 2, 3, -100); }
  SECTION("with the id of padding") {
    std::fill_n(shard.ids.begin() + 6, 2, 5);
    std::fill_n(shard.masked.begin() + 2, 3, 5);
  }
  CHECK(rows_of(shard).predictions == std::vector<std::int32_t>{2, 5});
}

TEST_CASE("a row whose predicted ids are all 0 is reported as not written", "[shard rows]") {
  WrittenShard shard;
  std::fill(shard.masked.begin() + 5, shard.masked.end(), 0);
  refused(shard, "'masked_lm_ids', row 1, column 0: 0; allowed: ids of which some are above 0");
  shard.masked[9] = 19;
  CHECK(rows_of(shard).predictions == std::vector<std::int32_t>{2, 5});
}

TEST_CASE("rows of few predictions whose ids are all 0 are reported as not written", "[shard rows]") {
  WrittenShard shard;
  shard.positions = {0, 0, 0, 0, 0, 1, 2, 4, 0, 0};
  std::ranges::fill(shard.masked, 0);
  CHECK(rows_of(shard).predictions == std::vector<std::int32_t>{0, 3});  // three zeros may be chance
  shard.positions[0] = 2;
  refused(shard, "'masked_lm_ids', row 0, column 0: 0; allowed: ids of which some are above 0");
}

TEST_CASE("data sets that were never written are rejected", "[shard rows]") {
  WrittenShard shard;
  for (std::string const name : {"input_ids", "input_mask"}) {
    shard.unwritten = {name};
    refused(shard, "data set '" + name + "': was never written; allowed: rows that were written");
  }
  shard.unwritten = {"masked_lm_ids"};
  refused(shard, "data set 'masked_lm_ids': was never written, but masked_lm_positions was");
  shard.unwritten = {"segment_ids", "next_sentence_labels"};
  TemporaryFolder const folder;
  CHECK(shard.written(folder / "a.h5").unwritten() == std::vector<std::string>{"segment_ids", "next_sentence_labels"});
}

TEST_CASE("rows of this program begin with [CLS] and end with [SEP]", "[shard rows]") {
  WrittenShard shard;
  shard.attributes = write_attributes;
  CHECK(rows_of(shard).rows == 2);
  SECTION("no [CLS]") {
    shard.ids[8] = 15;
    refused(shard, "'input_ids', row 1, column 0: 15; allowed: 1, the shard's [CLS]");
  }
  SECTION("no [SEP]") {
    shard.ids[15] = 15;
    refused(shard, "'input_ids', row 1, column 7: 15; allowed: 2, the shard's [SEP]");
  }
}

TEST_CASE("attributes that contradict the data sets are rejected", "[shard rows]") {
  WrittenShard shard;
  auto const with = [&](std::string const& name, Hdf5File::Attribute const& value) {
    shard.attributes = [=](Hdf5File& file) {
      write_attributes(file);
      file.set_attribute("/", name, value);
    };
  };
  with("masking", "Dynamic");
  refused(shard, "attribute 'masking' is 'Dynamic'; allowed: static, dynamic");
  with("masking", std::int64_t{1});
  refused(shard, "attribute 'masking' holds 1 value of type int64; allowed: static, dynamic");
  with("sequence_length", std::int64_t{16});
  refused(shard, "attribute 'sequence_length' is 16, but input_ids has 8 columns");
  with("max_predictions", std::int64_t{4});
  refused(shard, "attribute 'max_predictions' is 4, but masked_lm_positions has 5 columns");
  with("vocabulary_xxh3", "0123");
  refused(shard, "attribute 'vocabulary_xxh3' is '0123'; allowed: sixteen hexadecimal digits");
  with("vocabulary_xxh3", std::int64_t{7});
  refused(shard, "attribute 'vocabulary_xxh3' holds 1 value of type int64; allowed: sixteen hexadecimal digits");
  with("cls_id", 1.0);
  refused(shard, "attribute 'cls_id' holds 1 value of type float64; allowed: an integer");
  with("format_version", 1.0);
  refused(shard, "attribute 'format_version' holds 1 value of type float64; allowed: a text that begins with 1.");
  with("format_version", "2.0");
  refused(shard, "attribute 'format_version' is '2.0'; allowed: a text that begins with 1.");
  shard.attributes = [](Hdf5File& file) { file.set_attribute("/", "format", "bellwether shard"); };
  refused(shard, "attribute 'format_version' is missing; allowed: a text that begins with 1.");
  shard.attributes = [](Hdf5File& file) {
    file.set_attribute("/", "format", "bellwether shard");
    file.set_attribute("/", "format_version", "1.0");
  };
  refused(shard, "attribute 'masking' is missing; allowed: static, dynamic");
  shard.attributes = [](Hdf5File& file) {
    file.set_attribute("/", "format", "bellwether shard");
    file.set_attribute("/", "format_version", "1.0");
    file.set_attribute("/", "masking", "static");
  };
  refused(shard, "attribute 'cls_id' is missing; allowed: an integer");
}

TEST_CASE("an id of more than 63 bits is shown exactly", "[shard rows]") {
  TemporaryFolder const folder;
  WrittenShard{}.written(folder / "a.h5");
  auto const from = Hdf5File::open(folder / "a.h5");
  auto file = Hdf5File::create(folder / "b.h5");
  for (auto const& name : from.list()) {
    auto const values = from.read<std::int64_t>(name);
    std::vector<std::uint64_t> unsigned_values(values.begin(), values.end());
    if (name == "input_ids") unsigned_values[9] = (std::uint64_t{1} << 63) + 5;
    file.write<std::uint64_t>(name, from.info(name).shape, unsigned_values);
  }
  file.close();
  CHECK_THROWS_MATCHES(
      ShardReader(folder / "b.h5").read(0, 2, {.vocabulary = 100, .segments = 2}), InputError,
      MessageMatches(ContainsSubstring("'input_ids', row 1, column 1: 9223372036854775813; allowed: 0 to 99")));
}
