// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/batch_stream.hpp"
#include "input/shards/shard_copies.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/input/shards/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <filesystem>

using namespace bellwether;
using namespace bellwether::input;

namespace {

ShardSetInfo info_of(std::vector<std::string> const& shards) {
  IoThread io;
  return BatchStream(io, shards, {}, {.global = 4, .micro = 4, .vocabulary = 100}).info();
}
std::vector<std::string> warnings_of(std::vector<std::string> const& shards) { return info_of(shards).warnings; }

/// Rows with equal labels, as in data without next sentences: only their ids distinguish them.
void write_without_labels(std::string const& path, std::int64_t first, std::int64_t rows) {
  auto const format = small_format(false);
  ShardWriter writer(path, format, 64);
  for (std::int64_t r = first; r < first + rows; ++r) {
    auto sample = sample_of(r, format);
    sample.random_next = false;
    writer.append(sample);
  }
  writer.close();
}

}  // namespace

TEST_CASE("a copy of a shard is reported with both names", "[copies]") {
  TemporaryFolder const folder;
  auto const format = small_format(GENERATE(true, false));
  write_shard(folder / "a.h5", format, 0, 300);
  write_shard(folder / "b.h5", format, 300, 300);
  CHECK(warnings_of({folder.path()}).empty());
  SECTION("byte for byte") { std::filesystem::copy_file(folder / "b.h5", folder / "c.h5"); }
  SECTION("recompressed with other chunks") { write_shard(folder / "c.h5", format, 300, 300, 32); }
  CHECK(warnings_of({folder.path()}) ==
        std::vector<std::string>{folder / "c.h5" + ": holds the same rows as " + (folder / "b.h5") +
                                 ", which are therefore read twice per epoch"});
}

TEST_CASE("shards that begin alike are not copies", "[copies]") {
  TemporaryFolder const folder;
  auto const format = small_format(false);
  auto const write = [&](std::string const& name, std::int64_t last) {
    ShardWriter writer(folder / name, format, 64);
    for (std::int64_t r = 0; r < 5000; ++r) writer.append(sample_of(r, format));
    writer.append(sample_of(last, format));
    writer.close();
  };
  write("a.h5", 5000);
  write("b.h5", 5001);
  CHECK(warnings_of({folder.path()}).empty());
  write("c.h5", 5001);
  CHECK(warnings_of({folder.path()}).size() == 1);
}

TEST_CASE("shards with equal labels are distinguished by their ids", "[copies]") {
  TemporaryFolder const folder;
  for (int i = 0; i < 4; ++i)
    write_without_labels(folder / (std::string(1, static_cast<char>('a' + i)) + ".h5"), i, 40);
  CHECK(warnings_of({folder.path()}).empty());
  write_without_labels(folder / "e.h5", 2, 40);
  auto const warnings = warnings_of({folder.path()});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with(folder / "e.h5" + ": holds the same rows as " + (folder / "c.h5")));
}

TEST_CASE("of many copies only a few are reported", "[copies]") {
  TemporaryFolder const folder;
  for (int i = 0; i < 9; ++i) write_shard(folder / (std::to_string(i) + ".h5"), small_format(true), 0, 20);
  CHECK(warnings_of({folder.path()}).size() == 3);
}

TEST_CASE("held-out shards with the rows of a training shard are reported", "[copies]") {
  TemporaryFolder const folder;
  auto const opened = [&](std::string const& name) { return info_of({folder / name}).shards; };
  write_shard(folder / "a.h5", small_format(true), 0, 30);
  write_shard(folder / "b.h5", small_format(true), 30, 30);
  CHECK(trained_copies(opened("a.h5"), opened("b.h5")).empty());
  std::filesystem::copy_file(folder / "a.h5", folder / "c.h5");
  CHECK(trained_copies(opened("a.h5"), opened("c.h5")) ==
        std::vector<std::string>{folder / "c.h5" + ": holds the same rows as " + (folder / "a.h5") +
                                 " of data.train; allowed: rows that are not trained on"});
}
