// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/input/deck/deck_texts.hpp"

using namespace bellwether;
using Faults = std::vector<std::string>;

TEST_CASE("A number with a unit or with digit separators is rejected") {
  DeckFolder const folder;
  for (std::string const word : {"10 steps", "10k", "10K", "10%", "10s", "1 000", "1'000", "1.000.000", "10;", "--10",
                                 "5-3", "1e", "1d3", "0x1p3", "1/2", "ten"}) {
    INFO(word);
    CHECK(faults_of(folder.with_data("schedule:\n  steps: " + word + "\n")) ==
          Faults{"deck.yaml:4:10: schedule.steps: '" + word +
                 "' is not a number; allowed: a whole number from 1 to 1000000000000 (steps)"});
    CHECK(faults_of(folder.with_data("optimizer:\n  lr: " + word + "\n")) ==
          Faults{"deck.yaml:4:7: optimizer.lr: '" + word + "' is not a number; allowed: a number from 0 to 1000000"});
  }
}

TEST_CASE("Thousands separators are rejected inside braces, too") {
  DeckFolder const folder;
  auto const faults = faults_of(folder.with_data("schedule: {steps: 1,000}\n"));
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].starts_with("deck.yaml:3:21: schedule.000: unknown key"));
}

TEST_CASE("Whole numbers above the exact range of a double are rejected") {
  DeckFolder const folder;
  for (std::string const word : {"9007199254740993", "9223372036854775808", "1e19", "-9223372036854775809"})
    CHECK(faults_of(folder.with_data("schedule:\n  steps: " + word + "\n")) ==
          Faults{"deck.yaml:4:10: schedule.steps: '" + word +
                 "' is out of range; allowed: a whole number from 1 to 1000000000000 (steps)"});
}
