// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/threads/ordered_pipeline.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <functional>
#include <new>
#include <stdexcept>

using bellwether::input::run_ordered;

namespace {

/// Returns the squares of 0 to 99 in order. `make_worker` is passed to run_ordered().
std::vector<int> squares(int threads, std::function<std::function<int(int)>()> const& make_worker) {
  std::vector<int> made;
  int next = 0;
  run_ordered<int, int>(
      threads,
      [&](int& in) {
        in = next;
        return next++ < 100;
      },
      make_worker, [&](int out) { made.push_back(out); });
  return made;
}

}  // namespace

TEST_CASE("Blocks are consumed in the order of their production") {
  auto const made = squares(GENERATE(1, 2, 7), [] { return [](int in) { return in * in; }; });
  REQUIRE(made.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(made[static_cast<std::size_t>(i)] == i * i);
}

TEST_CASE("An exception in a thread's work or its make_worker reaches the caller") {
  int const threads = GENERATE(1, 4);
  CHECK_THROWS_AS(squares(threads,
                          [] {
                            return [](int in) {
                              if (in == 50) throw std::range_error("fifty");
                              return in;
                            };
                          }),
                  std::range_error);
  CHECK_THROWS_AS(squares(threads, []() -> std::function<int(int)> { throw std::bad_alloc(); }), std::bad_alloc);
}
