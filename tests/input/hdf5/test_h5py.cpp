// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/hdf5/hdf5_file.hpp"
#include "input/shards/shards.hpp"
#include "tests/input/shards/sample_shards.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <string>

using namespace bellwether::input;

namespace {

/// Returns a Python with h5py; empty if there is none.
std::string python() {
  for (std::string const candidate : {"python3", "/usr/bin/python3"})
    if (std::system((candidate + " -c 'import h5py, numpy' 2>/dev/null").c_str()) == 0) return candidate;
  return "";
}

int exchange(std::string const& interpreter, std::string const& what, TemporaryFolder const& folder) {
  return std::system(
      (interpreter + " '" BELLWETHER_SOURCE_FOLDER "/exchange_h5py.py' " + what + " '" + folder.path() + "'").c_str());
}

}  // namespace

TEST_CASE("h5py reads our files", "[h5py]") {
  auto const interpreter = python();
  if (interpreter.empty()) SKIP("no Python with h5py and numpy");
  TemporaryFolder const folder;
  write_shard(folder / "static.h5", small_format(true), 0, 21);
  write_shard(folder / "dynamic.h5", small_format(false), 0, 21);
  for (std::int64_t segment : {0, 1}) {
    auto file = Hdf5File::create(folder / ("segment" + std::to_string(segment) + ".h5"));
    auto const base = static_cast<double>(2 * segment);
    file.write_table("steps", {{"step", std::vector<std::int64_t>{2 * segment + 1, 2 * segment + 2}},
                               {"loss", std::vector<double>{base + 0.5, base + 1.5}}});
    file.write<double>("ratio", {2, 2}, std::vector<double>{2 * base, 2 * base + 1, 2 * base + 2, 2 * base + 3});
    file.close();
  }
  auto file = Hdf5File::create(folder / "statistics.h5");
  file.write_virtual("steps", {{"segment0.h5", "steps", 2}, {"segment1.h5", "steps", 2}});
  file.write_virtual("layers/ratio", {{"segment0.h5", "ratio", 2}, {"segment1.h5", "ratio", 2}});
  file.write_texts("layers/name", {"pooler", "Übergröße 語"});
  file.set_attribute("layers", "rate", 0.25);
  file.close();
  CHECK(exchange(interpreter, "read", folder) == 0);
}

TEST_CASE("files of h5py are read", "[h5py]") {
  auto const interpreter = python();
  if (interpreter.empty()) SKIP("no Python with h5py and numpy");
  TemporaryFolder const folder;
  REQUIRE(exchange(interpreter, "write", folder) == 0);
  ShardReader const reader(folder / "foreign.hdf5");
  CHECK(reader.rows() == 100);
  CHECK(reader.chunk_rows() > 1);
  CHECK(reader.format().static_masks);
  ShardRows const rows = reader.read(0, 100, {.vocabulary = 100, .segments = 2});
  CHECK(rows.lengths[0] == 4);
  CHECK(rows.lengths[99] == 6);
  CHECK(rows.predictions[98] == 1);
  CHECK(rows.masked_ids[2] == 13);
  CHECK(rows.segment_ids[9] == 1);
  auto const file = Hdf5File::open(folder / "other.h5");
  CHECK(file.attribute("/", "text") == Hdf5File::Attribute("naïve"));
  CHECK(file.attribute("/", "fixed") == Hdf5File::Attribute("plain"));
  CHECK(file.attribute("/", "count") == Hdf5File::Attribute(std::int64_t{-7}));
  CHECK(file.attribute("/", "rate") == Hdf5File::Attribute(0.5));
  CHECK(file.read_texts("names") == std::vector<std::string>{"a", "größer"});
  CHECK(file.read_texts("fixed_names") == std::vector<std::string>{"ab", "cdef"});
  auto const table = file.read_table("table");
  CHECK(std::get<0>(table.at(0).values) == std::vector<std::int64_t>{1, 2});
  CHECK(std::get<1>(table.at(1).values) == std::vector<double>{0.5, 1.5});
}

TEST_CASE("A filter that only h5py has is named with advice", "[h5py]") {
  auto const interpreter = python();
  if (interpreter.empty()) SKIP("no Python with h5py and numpy");
  TemporaryFolder const folder;
  REQUIRE(exchange(interpreter, "lzf", folder) == 0);
  ShardReader const reader(folder / "lzf.h5");
  try {
    reader.has_predictions(10);
    FAIL("read");
  } catch (bellwether::InputError const& error) {
    std::string const text = error.what();
    INFO(text);
    CHECK(text.find("data set 'masked_lm_positions': is compressed by the filter 'lzf'") != std::string::npos);
    CHECK(text.find("h5repack -f GZIP=4") != std::string::npos);
    CHECK(text.find("plugin") == std::string::npos);
  }
}

TEST_CASE("A type that no shard holds is named", "[h5py]") {
  auto const interpreter = python();
  if (interpreter.empty()) SKIP("no Python with h5py and numpy");
  TemporaryFolder const folder;
  REQUIRE(exchange(interpreter, "types", folder) == 0);
  auto const refusal = [&](std::string const& name) -> std::string {
    try {
      ShardReader const reader(folder / (name + ".h5"));
    } catch (bellwether::InputError const& error) {
      return std::string(error.what()).substr(folder.path().size() + name.size() + 6);
    }
    return "taken";
  };
  using Types = std::initializer_list<std::pair<char const*, char const*>>;
  for (auto const& [name, what] : Types{{"list", "2 values of type text"},
                                        {"numbers", "3 values of type int32"},
                                        {"empty", "no value"},
                                        {"none", "no value"},
                                        {"reference", "1 value of type reference"},
                                        {"array", "1 value of type array of 3 int32"},
                                        {"compound", "1 value of type compound"}})
    CHECK(refusal(std::string("format_") + name) ==
          std::string("attribute 'format' holds ") + what + "; allowed: one number or text");
  for (auto const& [name, what] : Types{{"array", "arrays of 3 int32"},
                                        {"matrix", "arrays of 2 x 3 float64"},
                                        {"sequence", "sequences of int32 of variable length"},
                                        {"compound", "compounds of r, i"},
                                        {"text", "texts"},
                                        {"variable", "texts"},
                                        {"reference", "references"},
                                        {"opaque", "opaque values of 3 bytes"},
                                        {"swapped", "enumerations of FALSE = 1, TRUE = 0"}})
    CHECK(refusal(std::string("data_") + name) == std::string("data set 'segment_ids': holds ") + what +
                                                      "; allowed: integers, and booleans with FALSE = 0 and TRUE = 1");
}

TEST_CASE("Declared data that a file does not hold are rejected before allocation", "[h5py]") {
  auto const interpreter = python();
  if (interpreter.empty()) SKIP("no Python with h5py and numpy");
  TemporaryFolder const folder;
  REQUIRE(exchange(interpreter, "hostile", folder) == 0);
  auto const refusal = [&](auto const& read) {
    try {
      read();
    } catch (bellwether::InputError const& error) {
      return std::string(error.what()).substr(folder.path().size() + 1);
    }
    return std::string("taken");
  };
  auto const shard = [&](std::string const& name) { return refusal([&] { ShardReader const reader(folder / name); }); };
  CHECK(shard("rows.h5") ==
        "rows.h5: data set 'input_ids': has 1125899906842624 rows in 0 bytes; allowed: rows that were written");
  CHECK(shard("unwritten.h5").ends_with("has 1099511627776 rows in 0 bytes; allowed: rows that were written"));
  CHECK(shard("chunk.h5") ==
        "chunk.h5: data set 'input_ids': is stored in chunks of 33554432 rows; allowed: up to 8388608");
  auto const file = Hdf5File::open(folder / "texts.h5");
  for (std::string const name : {"variable", "fixed"}) {
    CAPTURE(name);
    CHECK(refusal([&] { file.read_texts(name); }).find("declares more strings than a file of this program holds") !=
          std::string::npos);
  }
  CHECK(file.read_texts("none").empty());
}
