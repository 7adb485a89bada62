// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/run_directory.hpp"

#include "core/system/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace bellwether::app {

namespace fs = std::filesystem;

bool holds_run(std::string const& directory) {
  for (auto const* name : {"deck.resolved.yaml", "statistics.h5", "statistics"})
    if (fs::exists(fs::path(directory) / name)) return true;
  auto const checkpoints = fs::path(directory) / "checkpoints";
  return fs::exists(checkpoints) && !fs::is_empty(checkpoints);
}

std::string set_record_aside(std::string const& directory) try {
  fs::path const run = directory;
  int count = 0;
  auto const numbered = [&] { return run / ("unfinished_" + std::to_string(count)); };
  do ++count;
  while (fs::exists(numbered()) && (!fs::is_directory(numbered()) || fs::exists(numbered() / "statistics")));
  fs::create_directories(numbered());
  // Move the rows last: if the job is killed in between, the next job finds them and moves them to the same folder.
  for (auto const* name : {"statistics.h5", "statistics"})
    if (fs::exists(run / name)) fs::rename(run / name, numbered() / name);
  return numbered().string();
} catch (fs::filesystem_error const& error) {
  throw RuntimeError(error.path1().string() + ": cannot be moved to a subfolder: " + error.code().message());
}

void require_makeable(std::string const& directory) {
  auto nearest = fs::path(directory);
  std::error_code status;
  auto const refuse = [&](std::string const& why) {
    throw InputError("run.directory: " + directory + " cannot be " +
                     (nearest == directory ? "written: " : "made: " + nearest.string() + ": ") + why);
  };
  while (nearest.has_relative_path()) {
    auto const found = fs::symlink_status(nearest, status);
    if (found.type() == fs::file_type::none) refuse(status.message());  // e.g. the name is too long
    if (fs::exists(found)) break;
    nearest = nearest.parent_path();
  }
  if (!fs::is_directory(nearest, status)) refuse("not a folder");
  // AT_EACCESS: the effective rights of this process, not those of the user who started it.
  if (faccessat(AT_FDCWD, nearest.c_str(), W_OK | X_OK, AT_EACCESS) != 0) refuse(std::strerror(errno));
}

}  // namespace bellwether::app
