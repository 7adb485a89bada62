// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/inspect.hpp"
#include "app/statistics/checksum_trailer.hpp"
#include "app/statistics/statistics_segment.hpp"
#include "core/system/error.hpp"
#include "input/threads/io_thread.hpp"
#include "tests/app/statistics/recorded_rows.hpp"

#include <catch2/matchers/catch_matchers_all.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

using namespace bellwether;
using app::Statistics;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using input::Hdf5File;
using sample::check_shows;
using sample::options;
using sample::record;

namespace {

constexpr auto mismatch = ": damaged: its bytes do not match the checksum at its end";
constexpr std::size_t trailer_bytes = 34;  // a line break, "bellwether xxh3 ", 16 digits and a line break

std::string bytes_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(std::string const& path, std::string const& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void inspect(std::string const& path) {
  std::ostringstream out;
  app::inspect(path, {}, out);
}

void record_steps(TemporaryFolder const& folder, input::IoThread& io) {
  Statistics statistics(options(folder), io);
  record(statistics, 1, 30);
  statistics.flush();
  statistics.wait();
}

}  // namespace

TEST_CASE("A damaged byte anywhere in statistics.h5 is detected before HDF5 reads it") {
  TemporaryFolder const folder;
  input::IoThread io;
  record_steps(folder, io);
  auto const path = folder / "statistics.h5";
  auto const whole = bytes_of(path);
  REQUIRE(whole.size() > 4000);
  REQUIRE_THAT(whole, EndsWith("\n"));
  auto const virtual_layouts = whole.find("GCOL");  // HDF5 1.10 overruns a buffer if one of the next bytes is damaged
  REQUIRE(virtual_layouts != std::string::npos);
  for (std::size_t at = 0; at + trailer_bytes < whole.size(); at += (at > virtual_layouts ? 61 : 37)) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] == '\xff' ? 0 : 0xff);
    write(path, damaged);
    INFO("byte " << at);
    REQUIRE_THROWS_WITH(inspect(path),
                        path + mismatch +
                            "; remove it, and `bellwether train --resume` creates it again from the folder statistics "
                            "beside it");
    REQUIRE_THROWS_WITH(app::require_segments(path), ContainsSubstring(mismatch));
  }
  CHECK_THROWS_WITH(Statistics(options(folder, 30), io),
                    ContainsSubstring(path + mismatch) && ContainsSubstring("created again from the segments"));
  std::filesystem::remove(path);
  Statistics const statistics(options(folder, 30), io);
  check_shows(folder, 30);
  CHECK(bytes_of(path) == whole);
}

TEST_CASE("A damaged segment is detected before HDF5 reads it") {
  TemporaryFolder const folder;
  input::IoThread io;
  record_steps(folder, io);
  auto const path = folder / "statistics/segment_000001.h5";
  auto damaged = bytes_of(path);
  damaged[damaged.size() / 2] ^= 1;
  write(path, damaged);
  auto const advised = path + mismatch + "; restore it from a copy";
  CHECK_THROWS_WITH(inspect(path), advised);
  CHECK_THROWS_WITH(inspect(folder / "statistics.h5"), advised);
  CHECK_THROWS_WITH(Statistics(options(folder, 30), io),
                    ContainsSubstring(path + mismatch) && ContainsSubstring("the folder statistics out of"));
}

TEST_CASE("Statistics of NUL bytes, as a lost write leaves them, are errors with what to do") {
  TemporaryFolder const folder;
  input::IoThread io;
  record_steps(folder, io);
  auto const shown = folder / "statistics.h5", segment = folder / "statistics/segment_000001.h5";
  auto const whole = bytes_of(segment);
  write(segment, std::string(whole.size(), '\0'));
  for (auto const& file : {segment, shown})  // HDF5 shows rows of the segment
    CHECK_THROWS_WITH(inspect(file), segment + ": is not an HDF5 file; restore it from a copy");
  write(segment, whole);
  auto const advised = ContainsSubstring(
      "; remove it, and `bellwether train --resume` creates it again from the folder statistics beside it");
  for (auto const& bytes : {std::string(5000, '\0'), std::string(), bytes_of(shown).substr(0, 1000)}) {
    write(shown, bytes);
    CHECK_THROWS_WITH(inspect(shown), ContainsSubstring(shown + ": is ") && advised);
    CHECK_THROWS_WITH(app::require_segments(shown), advised);
  }
  std::filesystem::remove_all(folder / "statistics");  // nothing to create it from
  write(shown, std::string(5000, '\0'));
  CHECK_THROWS_WITH(inspect(shown), shown + ": is not an HDF5 file");
}

TEST_CASE("Statistics without a checksum at their end are read") {
  TemporaryFolder const folder;
  input::IoThread io;
  record_steps(folder, io);
  auto const path = folder / "statistics.h5";
  auto const whole = bytes_of(path);
  SECTION("files of an earlier version") { write(path, whole.substr(0, whole.size() - trailer_bytes)); }
  SECTION("files that another program changed") {
    auto file = Hdf5File::modify(path);
    file.set_attribute("/", "note", "second try");
    file.close();
    CHECK(bytes_of(path).find("bellwether xxh3") == std::string::npos);
  }
  SECTION("a damaged label") {
    auto damaged = whole;
    damaged[whole.size() - trailer_bytes + 1] = 'B';
    write(path, damaged);
  }
  CHECK(app::checksum_fault(path).empty());
  check_shows(folder, 30);
  CHECK_NOTHROW(inspect(path));
}
