// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/shared_directory.hpp"

#include "app/launch/collective_errors.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/system/error.hpp"
#include "input/files/no_room.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <thread>
#include <utility>

namespace bellwether::app {
namespace {

namespace fs = std::filesystem;

// Some network file systems show a new file on other nodes only after a while.
constexpr std::chrono::milliseconds between_looks(100);
constexpr int looks = 50;

bool is_there(fs::path const& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool appears(std::string const& path) {
  for (int look = 1; !is_there(path); ++look) {
    if (look == looks) return false;
    std::this_thread::sleep_for(between_looks);
  }
  return true;
}

/// Returns the folder in which a checkpoint is created.
fs::path folder_of_checkpoints(fs::path const& directory) {
  auto const folder = directory / "checkpoints";
  return is_there(folder) ? folder : directory;
}

/// Collective. seen: the path that rank 0 has; its folder must be writable on every rank.
void require_on_all(comm::RankGroup& group, std::string seen, std::string const& directory, std::string const& host) {
  seen = broadcast_text(group, std::move(seen));
  together(group, [&] {
    if (group.rank() == 0) return;
    if (!appears(seen))
      throw InputError("run.directory: " + directory + " is not the same folder on " + host + " as on rank 0: " + seen +
                       " is missing there; name a folder on a file system that all nodes share");
    auto const folder = fs::is_directory(seen) ? fs::path(seen) : fs::path(seen).parent_path();
    if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
      throw InputError("run.directory: " + folder.string() + " cannot be written on " + host + ": " +
                       std::strerror(errno) + "; allowed: a folder that every rank can write to");
  });
}

/// An empty file with a new name, removed by the destructor.
class Mark {
 public:
  explicit Mark(fs::path const& folder)
      : path_(
            (folder / (".start-" + std::to_string(getpid()) + "-" + std::to_string(std::random_device()()))).string()) {
    int const file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && input::is_lack_of_room(errno))
      input::throw_unwritable("run.directory: " + folder.string() + " cannot be written", errno);
    if (file < 0)
      throw InputError("run.directory: " + folder.string() + " cannot be written: " + std::strerror(errno) +
                       "; checkpoints are written there");
    close(file);
  }
  ~Mark() { unlink(path_.c_str()); }
  Mark(Mark const&) = delete;
  Mark& operator=(Mark const&) = delete;
  std::string const& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

void require_seen(comm::RankGroup& group, std::string const& directory, std::string const& host) {
  fs::path found = folder_of_checkpoints(directory);
  if (found == directory && is_there(found / ".lock")) found /= ".lock";
  while (found.has_relative_path() && !is_there(found)) found = found.parent_path();
  require_on_all(group, found.string(), directory, host);
}

void require_shared(comm::RankGroup& group, std::string const& directory, std::string const& host) {
  std::optional<Mark> mark;  // on rank 0
  together(group, [&] {
    if (group.rank() == 0) mark.emplace(folder_of_checkpoints(directory));
  });
  require_on_all(group, mark ? mark->path() : "", directory, host);
}

}  // namespace bellwether::app
