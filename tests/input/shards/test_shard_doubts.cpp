// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
/// Faults of shards that give a warning but do not prevent training, and shards that change while a job runs.
#include "core/system/error.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/shards/batch_stream.hpp"
#include "input/shards/corpus_facts.hpp"
#include "input/shards/shard_doubts.hpp"
#include "input/threads/io_thread.hpp"
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
using Texts = std::vector<std::string>;

namespace {

constexpr StreamGeometry geometry{.global = 8, .micro = 8, .vocabulary = 100};

Texts warnings_of(std::vector<std::string> const& shards) {
  IoThread io;
  return BatchStream(io, shards, {}, geometry).info().warnings;
}

void make_files(TemporaryFolder const& folder, std::vector<std::string> const& names) {
  for (auto const& name : names) std::ofstream(folder / name) << "x";
}

}  // namespace

TEST_CASE("shards without rows or predictions are reported", "[doubts]") {
  TemporaryFolder const folder;
  auto const format = small_format(true);
  write_shard(folder / "a.h5", format, 0, 10);
  CHECK(warnings_of({folder.path()}).empty());
  write_shard(folder / "b.h5", format, 0, 0);
  for (std::string const name : {"c.h5", "d.h5", "e.h5"}) {
    ShardWriter writer(folder / name, format);
    for (std::int64_t r = 0; r < 4; ++r) {
      auto sample = sample_of(name[0] + r, format);
      sample.masked_positions.clear();
      sample.masked_ids.clear();
      writer.append(sample);
    }
    writer.close();
  }
  CHECK(warnings_of({folder.path()}) ==
        Texts{folder / "c.h5" +
                  ": has no masked positions in its first rows: only next sentences to predict; so have 2 "
                  "other shards",
              folder / "b.h5" + ": has no rows"});
}

TEST_CASE("data sets that were never written are reported", "[doubts]") {
  TemporaryFolder const folder;
  auto file = Hdf5File::create(folder / "a.h5");
  std::vector<std::int32_t> const ids{1, 11, 12, 2}, ones(4, 1);
  file.write<std::int32_t>("input_ids", {1, 4}, ids);
  file.write<std::int32_t>("input_mask", {1, 4}, ones);
  file.create_data_set("segment_ids", ElementType::i32, {1, 4});
  file.write<std::int32_t>("masked_lm_positions", {1, 1}, std::vector<std::int32_t>{1});
  file.write<std::int32_t>("masked_lm_ids", {1, 1}, std::vector<std::int32_t>{11});
  file.write<std::int32_t>("next_sentence_labels", {1}, std::vector<std::int32_t>{1});
  file.close();
  CHECK(warnings_of({folder / "a.h5"}) ==
        Texts{folder / "a.h5" + ": has only zeros in segment_ids, which was never written"});
}

TEST_CASE("a shard that declares dynamic masks and holds masks is rejected", "[doubts]") {
  TemporaryFolder const folder;
  write_shard(folder / "a.h5", small_format(true), 0, 4);
  write_shard(folder / "b.h5", small_format(false), 0, 4);
  // Edited attributes: the format of one kind of masks with the values of the other.
  auto const from = Hdf5File::open(folder / "a.h5");
  auto file = Hdf5File::create(folder / "c.h5");
  for (auto const& name : from.list()) {
    auto const shape = from.info(name).shape;
    file.write<std::int32_t>(name, shape, from.read<std::int32_t>(name));
  }
  auto const dynamic = Hdf5File::open(folder / "b.h5");
  for (auto const& name : dynamic.attribute_names("/"))
    file.set_attribute("/", name, dynamic.attribute("/", name).value());
  file.close();
  CHECK_THROWS_MATCHES(warnings_of({folder / "c.h5"}), InputError,
                       MessageMatches(ContainsSubstring(
                           "c.h5: declares dynamic masks, but holds masked_lm_positions; allowed: only zeros there")));
}

TEST_CASE("ids above the recorded vocabulary are rejected even if the model has rows for them", "[doubts]") {
  TemporaryFolder const folder;
  IoThread io;
  auto format = small_format(true);
  format.vocabulary = 40;
  ShardWriter writer(folder / "a.h5", format);
  Sample bad = sample_of(6, format);
  bad.token_ids[3] = 40;
  writer.append(bad);
  writer.close();
  BatchStream stream(io, {folder / "a.h5"}, {}, geometry);
  CHECK_THROWS_MATCHES(stream.next(), InputError,
                       MessageMatches(ContainsSubstring(
                           "row 0, column 3: 40; allowed: 0 to 39 (the vocabulary that the shards record)")));
}

TEST_CASE("a shard that is replaced during a job is an error", "[doubts]") {
  TemporaryFolder const folder;
  IoThread io;
  DataConfig config;
  config.window = 8;
  write_shard(folder / "a.h5", small_format(true), 0, 200);
  BatchStream stream(io, {folder / "a.h5"}, config, geometry);
  stream.next();
  io.drain();
  SECTION("by more rows") { write_shard(folder / "a.h5", small_format(true), 0, 201); }
  SECTION("by other masks") { write_shard(folder / "a.h5", small_format(false), 0, 200); }
  SECTION("by other rows of the same number") { write_shard(folder / "a.h5", small_format(true), 300, 200); }
  auto const read_on = [&] {
    for (int step = 0; step < 40; ++step) stream.next();
  };
  CHECK_THROWS_MATCHES(read_on(), InputError,
                       MessageMatches(ContainsSubstring("a.h5: was replaced or changed since this job opened it")));
}

TEST_CASE("missing numbers in a series of shards are reported", "[doubts]") {
  TemporaryFolder const folder;
  make_files(folder, {"train_00000.h5", "train_00001.h5", "train_00002.h5", "heldout.h5", "notes.txt"});
  CHECK(folder_doubts(folder.path()).empty());
  std::filesystem::remove(folder / "train_00001.h5");
  CHECK(folder_doubts(folder.path()) ==
        Texts{folder.path() + ": holds train_00000.h5 and train_00002.h5, but not train_00001.h5"});
  make_files(folder, {"train_00003.h5", "train_00006.h5"});
  CHECK(folder_doubts(folder.path()) ==
        Texts{folder.path() +
              ": holds train_00000.h5 and train_00002.h5, but not train_00001.h5; 3 numbers are missing in all"});
}

TEST_CASE("names with dates or other numbers are not reported as gaps", "[doubts]") {
  TemporaryFolder const folder;
  make_files(folder, {"day_20240130.h5", "day_20240131.h5", "day_20240201.h5", "a_7.h5", "b_9.h5",
                      "x_99999999999999999999.h5"});
  CHECK(folder_doubts(folder.path()).empty());
  CHECK(folder_doubts(folder / "day_20240130.h5").empty());
}

TEST_CASE("compressed and incompletely copied shards are reported", "[doubts]") {
  TemporaryFolder const folder;
  make_files(folder, {"a.h5", "a.h5.sha256", "README"});
  CHECK(folder_doubts(folder.path()).empty());
  make_files(folder, {"b.h5.gz"});
  CHECK(folder_doubts(folder.path()) ==
        Texts{folder.path() + ": holds b.h5.gz, which is not read: shards have the extension .h5 or .hdf5"});
  make_files(folder, {"c.h5.partial", "d.hdf5.gz"});
  CHECK(folder_doubts(folder.path()) ==
        Texts{folder.path() + ": holds b.h5.gz and 2 more such files, which are not read: "
                              "shards have the extension .h5 or .hdf5"});
}

TEST_CASE("shards with names of unfinished copies or other programs are reported", "[doubts]") {
  std::string const name = GENERATE("b.h5.1", "b.h5.bak", "b.h5~", "b.hdf", "b.he5", "b.H5.filepart", "b.h5.download",
                                    "b.h5.Z", "b.h5 (1)", ".b.h5.AbC123");
  TemporaryFolder const folder;
  make_files(folder, {"a.h5", "._b.h5.gz", "a.h5.txt", "h5.py", "notes"});
  CHECK(folder_doubts(folder.path()).empty());
  make_files(folder, {name});
  CHECK(folder_doubts(folder.path()) ==
        Texts{folder.path() + ": holds " + name + ", which is not read: shards have the extension .h5 or .hdf5"});
}

TEST_CASE("sub-folders with shards are reported unless they are listed or held out", "[doubts]") {
  TemporaryFolder const folder;
  for (std::string const name : {"heldout", "more", "run", "val"}) std::filesystem::create_directory(folder / name);
  for (std::string const name : {"a.h5", "heldout/b.h5", "more/c.h5", "val/d.h5"})
    write_shard(folder / name, small_format(true), name.front() * 50, 10);
  Hdf5File::create(folder / "run/statistics.h5").close();
  std::filesystem::create_directory_symlink(folder.path(), folder / "self");
  auto const rest = " not read: folders within a folder are not searched; list them, too";
  CHECK(folder_doubts(folder.path()) ==
        Texts{folder.path() + ": holds more and 1 more such folders, which are" + rest});
  CHECK(folder_doubts(folder.path(), {folder / "val/d.h5"}) == Texts{folder.path() + ": holds more, which is" + rest});
  CHECK(folder_doubts(folder.path(), {folder / "val", folder / "more"}).empty());
  CHECK(warnings_of({folder.path(), folder / "more", folder / "val"}).empty());
}

TEST_CASE("static masks that hide nothing are reported", "[doubts]") {
  TemporaryFolder const folder;
  auto const format = small_format(true);
  auto const write = [&](std::string const& name, int shown_of_four) {
    ShardWriter writer(folder / name, format);
    for (std::int64_t r = 0; r < 40; ++r) {
      auto sample = sample_of(r + name[0], format);
      for (std::size_t p = 0; p < sample.masked_ids.size() && r % 4 < shown_of_four; ++p)
        sample.token_ids[static_cast<std::size_t>(sample.masked_positions[p])] = sample.masked_ids[p];
      writer.append(sample);
    }
    writer.close();
  };
  write("a.h5", 1);
  CHECK(warnings_of({folder.path()}).empty());
  write("b.h5", 4);
  write("c.h5", 3);
  auto const warnings = warnings_of({folder.path()});
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], ContainsSubstring("b.h5: holds the answers in input_ids: most masked positions") &&
                              ContainsSubstring("; so has another shard"));
}

TEST_CASE("rows without predictions in shards with static masks are reported", "[doubts]") {
  TemporaryFolder const folder;
  auto const format = small_format(true);
  auto const write = [&](std::string const& name, std::int64_t unmasked_of_twenty) {
    ShardWriter writer(folder / name, format);
    for (std::int64_t r = 0; r < 40; ++r) {
      auto sample = sample_of(r + name[0], format);
      if (r % 20 < unmasked_of_twenty) {
        sample.masked_positions.clear();
        sample.masked_ids.clear();
      }
      writer.append(sample);
    }
    writer.close();
  };
  write("a.h5", 2);
  CHECK(warnings_of({folder.path()}).empty());
  write("b.h5", 10);
  write("c.h5", 3);
  CHECK(warnings_of({folder.path()}) ==
        Texts{folder / "b.h5" +
              ": has no masked position in 20 of its first 40 rows (every row has one usually): they have only next "
              "sentences to predict; make the shard again; so has another shard"});
}

TEST_CASE("one segment in rows with next-sentence labels is reported", "[doubts]") {
  TemporaryFolder const folder;
  bool const static_masks = GENERATE(false, true);
  auto const format = small_format(static_masks);
  auto const write = [&](std::string const& name, std::int64_t random, bool second_segment) {
    ShardWriter writer(folder / name, format);
    for (std::int64_t r = 0; r < 40; ++r) {
      auto sample = sample_of(r + name[0], format);
      sample.random_next = r < random;
      if (!second_segment) sample.segment_ids.assign(sample.segment_ids.size(), 0);
      writer.append(sample);
    }
    writer.close();
  };
  write("a.h5", 20, true);
  write("b.h5", 0, false);  // without next sentences, one segment is what it should be
  CHECK(warnings_of({folder.path()}).empty());
  write("c.h5", 19, false);
  CHECK(warnings_of({folder.path()}) ==
        Texts{folder / "c.h5" +
              ": has segment 0 alone, but 19 of its first 40 rows have a random next sentence: the model cannot tell "
              "where it begins; write segment 1 for its tokens"});
}

TEST_CASE("labels that are never 1 and mostly unknown tokens are reported for shards of other programs", "[doubts]") {
  TemporaryFolder const folder;
  auto const format = small_format(false);
  ShardWriter writer(folder / "a.h5", format);
  for (std::int64_t r = 0; r < 40; ++r) {
    auto sample = sample_of(r, format);
    sample.random_next = false;
    for (auto& id : sample.token_ids)
      if (id >= 10) id = format.special.classify - 1;
    writer.append(sample);
  }
  writer.close();
  IoThread io;
  auto const warnings = BatchStream(io, {folder.path()}, {}, geometry).info().corpus_warnings;
  REQUIRE(warnings.size() == 2);
  CHECK_THAT(warnings[0], ContainsSubstring("of the tokens are unknown to the vocabulary ([UNK])"));
  CHECK_THAT(warnings[1], ContainsSubstring("0.0 % of the rows have a random next sentence"));
}

TEST_CASE("impossible facts of a shard and missing rows of its set are reported", "[doubts]") {
  TemporaryFolder const folder;
  write_shard(folder / "a.h5", small_format(true), 0, 20);
  write_shard(folder / "b.h5", small_format(true), 20, 20);
  CorpusFacts facts{.documents = 10, .sentences = 80, .tokens = 500, .rows = 40, .random_next = 14, .duplicates = 0};
  for (auto const* name : {"a.h5", "b.h5"}) write_corpus_facts(folder / name, facts);
  CHECK(warnings_of({folder.path()}).empty());
  CHECK(warnings_of({folder / "b.h5"}) ==
        Texts{folder / "b.h5" + ": 20 of the 40 rows of this set are here; shards are missing, unless you left them "
                                "out on purpose: list all that `prepare` wrote"});
  facts.duplicates = 9;
  for (auto const* name : {"a.h5", "b.h5"}) write_corpus_facts(folder / name, facts);
  CHECK(warnings_of({folder.path()}) ==
        Texts{folder / "a.h5" + ": attribute corpus_duplicate_share is 9; allowed: 0 to 1; the facts of the texts in "
                                "this shard are ignored; so has another shard"});
}
