// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/start_log.hpp"
#include "core/system/error.hpp"
#include "tests/input/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace bellwether;
using app::StartLog;

TEST_CASE("the fourth start at the same step is refused, other starts are accepted") {
  TemporaryFolder const folder;
  StartLog const log(folder.path());
  for (int start = 0; start < StartLog::fruitless_starts; ++start) {
    log.require_progress(12);
    log.append(12, 4);
  }
  CHECK_THROWS_AS(log.require_progress(12), InputError);
  log.require_progress(1);  // "step 12" is not a line of step 1
  log.require_progress(2);
  log.require_progress(13);
  log.append(13, 1);
  log.require_progress(12);  // these starts are no longer the last ones
}

TEST_CASE("a start that wrote a checkpoint counts as progress, even at the same step") {
  TemporaryFolder const folder;
  StartLog const log(folder.path());
  for (int start = 0; start < StartLog::fruitless_starts; ++start) log.append(12, 4);
  CHECK_THROWS_AS(log.require_progress(12), InputError);
  log.append_checkpoint(12);
  log.require_progress(12);
  for (int start = 1; start < StartLog::fruitless_starts; ++start) log.append(12, 4);
  log.require_progress(12);
  log.append(12, 4);
  CHECK_THROWS_AS(log.require_progress(12), InputError);
}

TEST_CASE("other lines in the record of starts are ignored") {
  TemporaryFolder const folder;
  StartLog const log(folder.path());
  log.append(12, 4);
  std::ofstream(folder / "starts.txt", std::ios::app)
      << "# looked at it\n\n2026-11-25T08:00:00Z step 12, 4 ranks";  // the last line has no newline
  log.append(12, 4);
  std::ofstream(folder / "starts.txt", std::ios::app) << "\n";
  CHECK_THROWS_AS(log.require_progress(12), InputError);
  log.require_progress(13);
}

TEST_CASE("every start adds a line with its time, step and ranks") {
  TemporaryFolder const folder;
  StartLog const log(folder.path());
  log.append(0, 1);
  log.append(1200, 64);
  log.append_checkpoint(1300);
  std::ifstream file(folder / "starts.txt");
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  std::string const time = R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)";
  CHECK_THAT(text, Catch::Matchers::Matches(time + " step 0, 1 rank\n" + time + " step 1200, 64 ranks\n" + time +
                                            " checkpoint of step 1300\n"));
}

TEST_CASE("a refused start leaves no line, and no file that it created") {
  TemporaryFolder const folder;
  StartLog const log(folder.path());
  log.append(0, 1);
  log.remove_last();
  CHECK_FALSE(std::filesystem::exists(folder / "starts.txt"));
  for (int start = 0; start < StartLog::fruitless_starts; ++start) log.append(12, 4);
  log.remove_last();
  log.require_progress(12);
  log.append(12, 4);
  CHECK_THROWS_AS(log.require_progress(12), InputError);
}

TEST_CASE("an unreadable record of starts is an error") {
  using Catch::Matchers::ContainsSubstring;
  TemporaryFolder const folder;
  std::filesystem::create_directory(folder / "starts.txt");
  StartLog const log(folder.path());
  auto const told = ContainsSubstring("/starts.txt: cannot be read: not a file; repair or remove it");
  CHECK_THROWS_WITH(log.require_progress(12), told);
  CHECK_THROWS_WITH(log.append(12, 4), told);
  std::filesystem::remove(folder / "starts.txt");
  std::filesystem::create_symlink("starts.txt", folder / "starts.txt");  // the link leads to itself
  CHECK_THROWS_WITH(log.require_progress(12), ContainsSubstring("/starts.txt: cannot be read: "));
}
