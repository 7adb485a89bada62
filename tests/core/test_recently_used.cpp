// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/recently_used.hpp"

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>

using namespace bellwether;

namespace {

struct Squares {
  int operator()(int key) {
    return kept.get(key, [&] {
      ++made;
      return key * key;
    });
  }
  RecentlyUsed<int, int, 3> kept;
  int made = 0;
};

}  // namespace

TEST_CASE("the least recently used value is replaced") {
  Squares square;
  CHECK(square(0) == 0);  // an empty slot does not match a key of zero
  CHECK(square(2) == 4);
  CHECK(square(3) == 9);
  CHECK(square.made == 3);
  CHECK(square(0) == 0);
  CHECK(square.made == 3);
  CHECK(square(4) == 16);  // replaces 2
  CHECK(square(0) == 0);
  CHECK(square(3) == 9);
  CHECK(square.made == 4);
  CHECK(square(2) == 4);  // replaces 4
  CHECK(square(3) == 9);
  CHECK(square(0) == 0);
  CHECK(square.made == 5);
}

TEST_CASE("a failed make() does not change the cache") {
  Squares square;
  for (int const key : {1, 2, 3}) square(key);
  auto const fail = []() -> int { throw std::runtime_error("none"); };
  CHECK_THROWS(square.kept.get(4, fail));
  for (int const key : {1, 2, 3}) CHECK(square(key) == key * key);
  CHECK(square.made == 3);
}
