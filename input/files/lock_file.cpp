// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/files/lock_file.hpp"

#include "core/system/error.hpp"
#include "input/files/no_room.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace bellwether::input {
namespace {

[[noreturn]] void throw_not_written(std::string const& path) {
  int const error = errno;
  std::string const text = path + ": cannot be written: " + std::strerror(error);
  if (is_lack_of_room(error)) throw NoRoom(text);
  throw RuntimeError(text);
}

/// \throws RuntimeError if a link, a folder, a pipe or a device has this name. None of them can be locked and signed.
void require_file_or_nothing(std::string const& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return;
  std::string const what = S_ISLNK(found.st_mode)   ? "a link"
                           : S_ISDIR(found.st_mode) ? "a folder"
                                                    : "a pipe, a device or a socket";
  throw RuntimeError(path + ": is " + what + "; allowed: a file, or nothing; remove it");
}

}  // namespace

LockFile::LockFile(std::string path) : path_(std::move(path)) {
  require_file_or_nothing(path_);
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file_ < 0) throw_not_written(path_);
  if (flock(file_, LOCK_EX | LOCK_NB) == 0)
    state_ = State::held;
  else if (errno == EWOULDBLOCK)
    state_ = State::in_use;
}

LockFile::~LockFile() { close(file_); }

std::string LockFile::owner() const {
  std::array<char, 320> text{};
  auto const size = pread(file_, text.data(), text.size(), 0);
  std::string const line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  auto const first = line.substr(0, line.find('\n'));
  return first.empty() ? "another process" : first;
}

bool LockFile::still_there() const {
  struct stat open_one {};
  struct stat named {};
  return fstat(file_, &open_one) == 0 && lstat(path_.c_str(), &named) == 0 && open_one.st_dev == named.st_dev &&
         open_one.st_ino == named.st_ino;
}

bool LockFile::is_lost() const {
  struct stat named {};
  if (lstat(path_.c_str(), &named) != 0) return errno == ENOENT || errno == ENOTDIR || errno == ESTALE;
  struct stat open_one {};
  if (fstat(file_, &open_one) != 0) return errno == ESTALE;
  return open_one.st_dev != named.st_dev || open_one.st_ino != named.st_ino;
}

void LockFile::sign() const {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  auto const text = "process " + std::to_string(getpid()) + " on " + host.data() + "\n";
  if (ftruncate(file_, 0) != 0 || pwrite(file_, text.data(), text.size(), 0) < 0) throw_not_written(path_);
}

bool has_locks(std::string const& path) {
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;  // opening it for use reports the reason
  bool const locks = flock(file, LOCK_SH | LOCK_NB) == 0 || errno == EWOULDBLOCK;
  close(file);
  return locks;
}

}  // namespace bellwether::input
