// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_folder.hpp"

#include "app/launch/collective_errors.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/system/error.hpp"
#include "input/files/no_room.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace bellwether::app {
namespace {

namespace fs = std::filesystem;

/// Waits until the pipe closes, then removes the folder. Retries for ten seconds, because other ranks may still write
/// into the folder after rank 0 ended.
constexpr char script[] = R"(
trap '' HUP INT TERM USR1 USR2
cat > /dev/null
for time in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf -- "$0" && [ ! -e "$0" ] && exit 0
  sleep 1
done)";

}  // namespace

BenchFolder::BenchFolder(comm::RankGroup& group, std::string const& parent) {
  path_ = broadcast_text(group,
                         (fs::path(parent) / ("bellwether_bench_checkpoint." + std::to_string(::getpid()))).string());
  together(group, [&] {
    if (group.rank() != 0) return;
    std::error_code error;
    if (!fs::create_directory(path_, error)) {
      if (error) input::throw_unwritable("--directory: " + path_ + " cannot be created", error.value());
      throw InputError("--directory: " + path_ + " cannot be created: it exists already");
    }
    start_shell();
  });
}

BenchFolder::~BenchFolder() {
  if (shell_ == 0) return;
  ::close(lifeline_);
  while (waitpid(shell_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void BenchFolder::start_shell() {
  std::string command = "sh", option = "-c", text = script, folder = fs::absolute(path_).string();
  char* arguments[] = {command.data(), option.data(), text.data(), folder.data(), nullptr};
  int ends[2] = {-1, -1};
  int error = pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
  if (error == 0) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);  // signals to the job do not reach it
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[0], STDIN_FILENO);
    for (int const stream : {STDOUT_FILENO, STDERR_FILENO})  // a launcher waits until its streams are closed
      posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_WRONLY, 0);
    error = posix_spawnp(&shell_, arguments[0], &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    ::close(ends[0]);
  }
  if (error == 0) {
    lifeline_ = ends[1];
    return;
  }
  if (ends[1] >= 0) ::close(ends[1]);
  shell_ = 0;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  throw RuntimeError(std::string("cannot start the shell that removes the files of bench: ") + std::strerror(error));
}

}  // namespace bellwether::app
