// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/text/text_source.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <zlib.h>

#include <fstream>
#include <string>

using namespace bellwether;
using namespace bellwether::input;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string gzip(std::string const& text) {
  std::string packed(text.size() + 1000, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<unsigned>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string lines(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
  return text;
}

/// Returns everything that a source returns, followed by "!" and the message if it throws.
std::string all_of(std::string const& path, std::size_t step = 1000) {
  TextSource source(path);
  std::string text, piece(step, '\0');
  try {
    while (auto const got = source.read(piece)) text.append(piece, 0, got);
  } catch (InputError const& error) {
    return text + "!" + error.what();
  }
  return text;
}

}  // namespace

TEST_CASE("all members of a gzip file are read and padding is skipped", "[text]") {
  TemporaryFolder const folder;
  auto const one = lines(0, 3000), two = lines(3000, 5);
  auto const check = [&](std::string const& bytes, std::string const& text) {
    std::ofstream(folder / "a.gz", std::ios::binary) << bytes;
    for (std::size_t const step : {1, 7, 100000}) CHECK(all_of(folder / "a.gz", step) == text);
    CHECK(TextSource(folder / "a.gz").compressed());
  };
  check(gzip(one), one);
  check(gzip(one) + gzip(two), one + two);
  check(gzip(one) + gzip("") + gzip(two), one + two);
  check(gzip(one) + std::string(700000, '\0'), one);
  check(gzip(one) + std::string(513, '\0') + gzip(two) + std::string(1, '\0'), one + two);
  std::ofstream(folder / "plain", std::ios::binary) << one;
  CHECK(all_of(folder / "plain") == one);
  CHECK(!TextSource(folder / "plain").compressed());
}

TEST_CASE("other data after a gzip member is an error with its position", "[text]") {
  TemporaryFolder const folder;
  auto const one = lines(0, 300), packed = gzip(one);
  for (std::string const& rest : {std::string("x"), std::string("\x1F"), std::string("\x1F_"), std::string("\n"),
                                  "plain text " + one, "_" + gzip(one).substr(1)}) {
    for (std::size_t const zeros : {0, 3}) {
      std::ofstream(folder / "a.gz", std::ios::binary) << packed + std::string(zeros, '\0') + rest;
      auto const got = all_of(folder / "a.gz");
      CHECK_THAT(got, ContainsSubstring("a.gz: byte " + std::to_string(packed.size() + zeros) + " (0x"));
      CHECK(got.starts_with(one + "!"));
    }
  }
}

TEST_CASE("a gzip file that is cut anywhere is an error", "[text]") {
  TemporaryFolder const folder;
  auto const one = lines(0, 40), two = lines(40, 40);
  auto const first = gzip(one), both = first + gzip(two);
  for (std::size_t size = 2; size < both.size(); ++size) {
    if (size == first.size()) continue;  // a complete file
    std::ofstream(folder / "a.gz", std::ios::binary | std::ios::trunc) << both.substr(0, size);
    auto const got = all_of(folder / "a.gz");
    INFO(size);
    // One byte of a second member's header is not enough to recognise it.
    std::string const fault =
        size == first.size() + 1 ? "does not begin another one" : "ends inside the gzip member that begins at byte ";
    CHECK_THAT(got, ContainsSubstring("!" + folder.path() + "/a.gz: ") && ContainsSubstring(fault));
    CHECK((one + two).starts_with(got.substr(0, got.find('!'))));
    if (size > first.size()) CHECK(got.starts_with(one));
  }
}

TEST_CASE("a gzip file with a damaged byte anywhere in its content is an error", "[text]") {
  TemporaryFolder const folder;
  auto const one = lines(0, 200), packed = gzip(one);
  for (std::size_t at = 10; at < packed.size(); ++at) {  // after the header, whose time and name may be anything
    auto bytes = packed;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    std::ofstream(folder / "a.gz", std::ios::binary | std::ios::trunc) << bytes;
    INFO(at);
    CHECK(all_of(folder / "a.gz").find("!") != std::string::npos);
  }
}
