// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/duration.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>

using namespace bellwether::input;
using std::chrono::seconds;

TEST_CASE("time limits are read in the formats of batch systems") {
  CHECK(duration_of("0:00:01") == seconds(1));
  CHECK(duration_of("3:50:00") == seconds(13800));
  CHECK(duration_of("03:50:00") == seconds(13800));
  CHECK(duration_of("100:00:00") == seconds(360000));
  CHECK(duration_of("2-00:00:00") == seconds(172800));
  CHECK(duration_of("0-23:59:59") == seconds(86399));
  for (auto const* text : {"",
                           ":",
                           "::",
                           "60",
                           "50:00",
                           "3:50",
                           "3:5:00",
                           "3:50:0",
                           "3:60:00",
                           "3:00:60",
                           "-1:00:00",
                           "+1:00:00",
                           "1: 0:00",
                           "1:-1:00",
                           "0:00:00",
                           "0-00:00:00",
                           "1-24:00:00",
                           "1-1:00:00",
                           "1-2-03:00:00",
                           "1000-00:00:00",
                           "23977:00:00",
                           "99999999999:00:00",
                           "1:00:00:00",
                           "1:00:00 ",
                           "1:00:00h",
                           "3.5:00:00",
                           "1:000:00",
                           "-",
                           "1-"})
    CHECK(duration_of(text) == std::nullopt);
}

TEST_CASE("a time out of range still has the form of a time") {
  for (auto const* text : {"0:00:00", "3:60:00", "1-24:00:00", "1000-00:00:00", "99999999999:00:00"})
    CHECK(has_duration_form(text));
  for (auto const* text :
       {"", "60", "3:50", ":00:00", "1-1:00:00", "-1:00:00", "1:00:00 ", "3.5:00:00", "1-", "1-2-03:00:00"})
    CHECK_FALSE(has_duration_form(text));
}

TEST_CASE("a formatted time parses back to itself") {
  CHECK(duration_text(seconds(13800)) == "3:50:00");
  CHECK(duration_text(seconds(86400 + 59)) == "24:00:59");
  CHECK(duration_text(seconds(172800)) == "2-00:00:00");
  std::mt19937 random(3);
  std::uniform_int_distribution<int> any(1, 999 * 86400);
  for (int i = 0; i < 1000; ++i) {
    seconds const duration(any(random));
    CHECK(duration_of(duration_text(duration)) == duration);
  }
}
