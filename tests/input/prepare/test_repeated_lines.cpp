// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/repeated_lines.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace bellwether::input;

namespace {

/// Returns a well-mixed hash of a number.
std::uint64_t hash_of(std::uint64_t number) {
  std::uint64_t x = number * 0x9E3779B97F4A7C15u + 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

/// Appends `times` copies of each of `count` different lines of `bytes` bytes; `line` is the number of the next one.
void append(std::vector<LineDigest>& lines, std::uint64_t& line, int count, int times, std::int64_t bytes) {
  for (int i = 0; i < count; ++i, ++line)
    lines.insert(lines.end(), static_cast<std::size_t>(times),
                 {.hash = hash_of(line), .bytes = bytes, .place = {1, static_cast<std::int64_t>(line)}});
}

RepeatedLines counted(std::vector<LineDigest> const& lines, std::size_t most_kept) {
  RepeatedLines repeated(most_kept);
  for (auto const& line : lines) repeated.add(line);
  return repeated;
}

}  // namespace

TEST_CASE("lines that occur more than ten times are counted by their bytes", "[text]") {
  std::vector<LineDigest> lines;
  std::uint64_t number = 0;
  CHECK(counted(lines, 1000).share() == 0);
  append(lines, number, 500, 1, 60);
  append(lines, number, 100, 10, 30);  // often, but not too often
  CHECK(counted(lines, 1000).share() == 0);
  CHECK(!counted(lines, 1000).most_at());
  append(lines, number, 1, 11, 100);
  append(lines, number, 1, 50, 380);
  auto const repeated = counted(lines, 1000);
  CHECK(repeated.share() == (1100.0 + 19000) / (30000 + 30000 + 1100 + 19000));
  REQUIRE(repeated.most_at());
  CHECK(repeated.most_at()->line == 601);
}

TEST_CASE("repeated lines of a large text are estimated, in any order", "[text]") {
  std::vector<LineDigest> lines;
  std::uint64_t number = 0;
  append(lines, number, 200000, 1, 30);
  CHECK(counted(lines, 20000).share() == 0);
  append(lines, number, 4000, 15, 30);
  double const of_many = 60.0 / 260;
  CHECK(std::abs(counted(lines, 20000).share() - of_many) < 0.04);
  append(lines, number, 5, 10000, 30);  // a sample of one in sixteen lines would probably miss them
  double const of_few = 110.0 / 310;
  auto const share = counted(lines, 20000).share();
  CHECK(std::abs(share - of_few) < 0.04);
  std::ranges::reverse(lines);
  CHECK(counted(lines, 20000).share() == share);
  std::shuffle(lines.begin(), lines.end(), std::mt19937(7));
  CHECK(counted(lines, 20000).share() == share);
}

TEST_CASE("five lines in half of the places of a large text are found", "[text]") {
  std::vector<LineDigest> lines;
  std::uint64_t number = 0;
  append(lines, number, 100000, 1, 80);
  append(lines, number, 5, 20000, 20);
  CHECK(std::abs(counted(lines, 1000).share() - 0.2) < 0.01);
}
