// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/run_directory.hpp"

#include "core/system/error.hpp"
#include "input/files/written_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace bellwether::app {

namespace fs = std::filesystem;

namespace {

/// Returns "what; what to do" for a link that leads nowhere; otherwise an empty text.
std::string lost_link(fs::path const& path) {
  std::error_code status;
  if (!fs::is_symlink(fs::symlink_status(path, status)) || fs::exists(path, status)) return "";
  return path.string() + " is a link to " + fs::read_symlink(path, status).string() +
         ", which does not exist; make that folder or remove the link";
}

}  // namespace

bool holds_run(std::string const& directory) {
  for (auto const* name : {"deck.resolved.yaml", "statistics.h5", "statistics"})
    if (fs::exists(fs::path(directory) / name)) return true;
  auto const checkpoints = fs::path(directory) / "checkpoints";
  return fs::is_directory(checkpoints) && !fs::is_empty(checkpoints);
}

std::string move_unfinished_record(std::string const& directory) try {
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

void require_possible(std::string const& directory) {
  if (auto const fault = input::length_fault(directory); !fault.empty()) throw InputError("run.directory: " + fault);
  std::error_code status;
  for (fs::path part = directory; part.has_relative_path(); part = part.parent_path()) {
    if (auto const fault = lost_link(part); !fault.empty()) throw InputError("run.directory: " + fault);
    if (fs::exists(part, status)) return;
  }
}

void require_own_folders(std::string const& directory) {
  for (auto const* name : {"checkpoints", "statistics"}) {
    auto const folder = fs::path(directory) / name;
    std::error_code status;
    if (!fs::exists(fs::symlink_status(folder, status))) continue;
    auto fault = lost_link(folder);
    if (fault.empty() && !fs::is_directory(folder, status))
      fault = folder.string() +
              " is not a folder, and a run writes a folder of this name; rename it or name another directory";
    if (fault.empty() && faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
      fault = folder.string() + " cannot be written: " + std::strerror(errno);
    if (!fault.empty()) throw InputError("run.directory: " + fault);
  }
}

void require_makeable(std::string const& directory) {
  require_possible(directory);
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
  require_own_folders(directory);
}

}  // namespace bellwether::app
