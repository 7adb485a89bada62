// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/durable_file.hpp"
#include "core/system/error.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

using namespace bellwether;
using Catch::Matchers::EndsWith;

namespace {

/// Returns what a descriptor that does not block holds: "end" at the end, "nothing" if a writer may still write.
std::string next(int descriptor) {
  std::array<char, 64> part{};
  auto const got = ::read(descriptor, part.data(), part.size());
  if (got < 0) return errno == EAGAIN ? "nothing" : "error";
  return got == 0 ? "end" : std::string(part.data(), static_cast<std::size_t>(got));
}

}  // namespace

TEST_CASE("A pipe that no program reads is refused") {
  TemporaryFolder const folder;
  auto const path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  constexpr auto told = ": is a pipe that no program reads; start its reader first, or name a file or /dev/stdout";
  CHECK_THROWS_WITH(app::require_writable_file(path), EndsWith(told));
  CHECK_THROWS_WITH(app::write_chosen_file(path, "text"), EndsWith(told));
}

TEST_CASE("The reader of a pipe waits until the text is written") {
  TemporaryFolder const folder;
  auto const path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  int const reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  CHECK(next(reader) == "end");  // no writer yet
  app::require_writable_file(path);
  CHECK(next(reader) == "nothing");
  app::write_chosen_file(path, "text");
  CHECK(next(reader) == "text");
  ::close(reader);
}

TEST_CASE("A descriptor of this process is written to as it is") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  auto const path = "/dev/fd/" + std::to_string(ends[1]);
  app::require_writable_file(path);
  app::write_chosen_file(path, "text");
  CHECK(next(ends[0]) == "text");
  ::close(ends[1]);
  CHECK(next(ends[0]) == "end");
  ::close(ends[0]);
  CHECK_THROWS_WITH(app::require_writable_file(path), EndsWith(": is not open here; allowed: a file, or /dev/stdout"));
}
