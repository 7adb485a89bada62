// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/system_limits.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

using namespace bellwether;

TEST_CASE("An error about too many open files says the limit, once") {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  if (limit.rlim_cur == RLIM_INFINITY) SKIP("no limit on open files");
  for (int const error : {EMFILE, ENFILE}) {
    auto const cause = std::string("a: cannot be opened: ") + std::strerror(error);
    auto const told = what_of(std::runtime_error(cause));
    CHECK(told == cause + "; limits here: `ulimit -n` " + std::to_string(limit.rlim_cur) +
                      " open files of this process; raise one");
    CHECK(what_of(std::runtime_error(told)) == told);
  }
  CHECK(what_of(std::runtime_error("a: Permission denied")) == "a: Permission denied");
}
