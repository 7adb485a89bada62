// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;

TEST_CASE("require() throws with its location if the condition fails") {
  CHECK_NOTHROW(require(true, "never read"));
  try {
    require(false, "counts differ");
    FAIL("nothing was thrown");
  } catch (InternalError const& error) {
    std::string const text = error.what();
    CHECK(text.find("test_error.cpp:") != std::string::npos);
    CHECK(text.find("counts differ") != std::string::npos);
  }
}

TEST_CASE("an input error lists all faults, one per line") {
  InputError const many(std::vector<std::string>{"deck.yaml:1: a", "deck.yaml:2: b"});
  CHECK(std::string(many.what()) == "deck.yaml:1: a\ndeck.yaml:2: b");
  CHECK(many.faults().size() == 2);
  InputError const one(std::string("deck.yaml:3: c"));
  CHECK(one.faults() == std::vector<std::string>{"deck.yaml:3: c"});
}
