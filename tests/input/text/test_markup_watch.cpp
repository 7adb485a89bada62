// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/text/markup_watch.hpp"
#include "input/text/text_reader.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

using namespace bellwether;
using namespace bellwether::input;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::size_t line_bytes = 32;  // of each line of prose and of JSON

std::string lines(std::size_t bytes, std::string line) {
  line.resize(line_bytes - 1, ' ');
  std::string text;
  while (text.size() < bytes) text += line + "\n";
  return text;
}

std::string prose(std::size_t bytes) { return lines(bytes, "The ferry left at noon."); }
std::string json(std::size_t bytes) { return lines(bytes, "{\"text\": \"Nobody waved.\"}"); }
std::string html(std::size_t bytes) { return lines(bytes, "<p>Nobody waved.</p>"); }

std::vector<MarkupFinding> findings_of(std::string const& text, std::size_t part) {
  MarkupWatch watch;
  for (std::size_t at = 0; at < text.size(); at += part) watch.add(std::string_view(text).substr(at, part));
  watch.finish();
  return watch.findings();
}

}  // namespace

TEST_CASE("markup is found in later windows, whatever parts the text comes in", "[text]") {
  constexpr auto window = MarkupWatch::window_bytes;
  for (std::size_t const part : {std::size_t{1000}, window, std::size_t{1} << 18, std::size_t{1} << 20}) {
    CAPTURE(part);
    CHECK(findings_of(prose(10 * window), part).empty());
    auto const found = findings_of(prose(2 * window) + json(3 * window) + html(4 * window), part);
    REQUIRE(found.size() == 2);
    CHECK_THAT(found[0].warning, StartsWith("looks like JSON"));
    CHECK(found[0].line == std::int64_t{2 * window / line_bytes + 2});  // the first complete line of the window
    CHECK_THAT(found[1].warning, StartsWith("looks like HTML or XML"));
    CHECK(found[1].line == std::int64_t{8 * window / line_bytes + 2});
    auto const first = findings_of(json(10 * window), part);
    REQUIRE(first.size() == 1);
    CHECK(first[0].line == 0);
  }
}

TEST_CASE("markup between two windows is found at the end of the text", "[text]") {
  constexpr auto window = MarkupWatch::window_bytes;
  for (std::size_t const part : {std::size_t{1000}, window, std::size_t{1} << 18}) {
    auto const found = findings_of(prose(17 * window) + html(12 * window), part);
    REQUIRE(found.size() == 1);
    CHECK(found[0].line == std::int64_t{28 * window / line_bytes + 2});
    CHECK(findings_of(prose(40 * window) + json(17 * window) + prose(20 * window), part).size() == 1);
  }
}

TEST_CASE("a short window at the end of a text is examined only if it is the first", "[text]") {
  constexpr auto window = MarkupWatch::window_bytes;
  CHECK(findings_of(json(320), 1000).size() == 1);
  CHECK(findings_of(prose(window) + json(window / 8), 1000).empty());
  CHECK(findings_of(prose(window) + json(window / 2), 1000).size() == 1);
  CHECK(findings_of("", 1).empty());
}

TEST_CASE("several texts with the same markup give one warning", "[text]") {
  MarkupWarnings warnings;
  CHECK(warnings.texts().empty());
  warnings.add("a", {{"looks odd", 0}});
  CHECK(warnings.texts() == std::vector<std::string>{"a looks odd"});
  warnings.add("b", {{"looks odd", 7}, {"looks poor", 9}});
  CHECK(warnings.texts() ==
        std::vector<std::string>{"a (and 1 other text) looks odd", "b (from line 9 on) looks poor"});
  warnings.add("c", {{"looks poor", 0}, {"looks odd", 0}});
  CHECK(warnings.texts() ==
        std::vector<std::string>{"a (and 2 other texts) looks odd", "b (from line 9 on; and 1 other text) looks poor"});
}

TEST_CASE("a reader gathers the markup of its files", "[text]") {
  TemporaryFolder const folder;
  std::ofstream(folder / "a.txt") << prose(100000) + json(200000);
  for (auto const* const name : {"b.txt", "c.txt"}) std::ofstream(folder / name) << html(2000);
  TextReader reader({folder / "a.txt", folder / "b.txt", folder / "c.txt"});
  for (TextBlock block; reader.next(block);) continue;
  auto const warnings = reader.warnings();
  REQUIRE(warnings.size() == 2);
  CHECK_THAT(warnings[0], StartsWith((folder / "a.txt") + " (from line 2050 on) looks like JSON"));
  CHECK_THAT(warnings[1], StartsWith((folder / "b.txt") + " (and 1 other text) looks like HTML or XML"));
}
