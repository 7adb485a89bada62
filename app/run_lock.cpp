// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_lock.hpp"

#include "core/error.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace bellwether::app {
namespace {

std::string owner() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(getpid()) + " on " + host.data() + "\n";
}

std::string first_line(int file) {
  std::array<char, 320> text{};
  auto const size = pread(file, text.data(), text.size(), 0);
  std::string const line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return line.substr(0, line.find('\n'));
}

}  // namespace

RunLock::RunLock(std::string const& directory) {
  std::string const path = directory + "/.lock";
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw RuntimeError(path + ": cannot be written: " + std::strerror(errno));
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) {
    auto const text = owner();
    if (ftruncate(file_, 0) != 0 || pwrite(file_, text.data(), text.size(), 0) < 0) {
      int const reason = errno;
      close(file_);
      throw RuntimeError(path + ": cannot be written: " + std::strerror(reason));
    }
  } else if (errno == EWOULDBLOCK) {
    auto const holder = first_line(file_);
    close(file_);
    throw InputError("run.directory: " + directory + " is in use by " + (holder.empty() ? "another process" : holder) +
                     "; wait until it ends or name another directory");
  }
}

RunLock::~RunLock() { close(file_); }

}  // namespace bellwether::app
