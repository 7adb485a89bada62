// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/durable_file.hpp"

#include "core/system/error.hpp"
#include "input/files/no_room.hpp"
#include "input/files/regular_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

namespace bellwether::app {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::strerror(error); }

/// Refuses a descriptor of this process that is not open: by the time of writing it could be another file.
void require_open(std::string const& path) {
  if (auto const number = input::descriptor_of(path); number && !input::is_open(*number))
    throw RuntimeError(path + ": is not open here; allowed: a file, or /dev/stdout");
}

/// Returns true for devices and pipes, also through links.
bool is_no_file(std::string const& path) {
  std::error_code error;
  auto const status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// A descriptor of a file, closed at the end.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(OpenFile const&) = delete;
  OpenFile& operator=(OpenFile const&) = delete;
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

[[noreturn]] void fail_unwritable(std::string const& path, int error) {
  std::string const text = path + ": cannot be written: " + reason(error);
  if (input::is_lack_of_room(error)) throw input::NoRoom(text);
  throw RuntimeError(text);
}

/// Opens a device, a pipe or a descriptor of this process for writing. Never waits for a reader of a pipe.
/// \throws RuntimeError if it cannot be opened.
int open_stream(std::string const& path) {
  auto const number = input::descriptor_of(path);
  int const file = number ? ::fcntl(*number, F_DUPFD_CLOEXEC, 0)
                          : ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file >= 0) return file;
  std::error_code status;
  if (errno == ENXIO && fs::is_fifo(path, status))
    throw RuntimeError(path +
                       ": is a pipe that no program reads; start its reader first, or name a file or /dev/stdout");
  fail_unwritable(path, errno);
}

/// Writes all of `text`, also to a descriptor that does not block.
void write_stream(std::string const& path, int file, std::string_view text) {
  while (!text.empty()) {
    auto const written = ::write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{.fd = file, .events = POLLOUT, .revents = 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      fail_unwritable(path, errno);
    }
  }
}

/// Returns the file to write for the user's path: the target of a link, even if it does not exist yet.
std::string target_of(std::string const& path) {
  std::error_code error;
  auto const target = fs::weakly_canonical(path, error);
  if (error) throw RuntimeError(path + ": cannot be written: " + error.message());
  if (fs::is_directory(target, error)) throw RuntimeError(path + ": is a folder; allowed: a file");
  return target.string();
}

}  // namespace

void sync_path(std::string const& path) {
  int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw RuntimeError(path + ": cannot be opened: " + reason(errno));
  int const status = ::fsync(file);
  int const error = errno;
  ::close(file);
  // Some network file systems cannot synchronise folders and return EINVAL; nothing more can be done there.
  if (status != 0 && error != EINVAL) throw RuntimeError(path + ": cannot be written to the device: " + reason(error));
}

void replace_file(std::string const& temporary, std::string const& path) {
  sync_path(temporary);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    int const error = errno;
    ::unlink(temporary.c_str());
    throw RuntimeError(path + ": cannot be replaced: " + reason(error));
  }
  auto const folder = std::filesystem::path(path).parent_path();
  sync_path(folder.empty() ? "." : folder.string());
}

void write_text_file(std::string const& path, std::string_view text) {
  std::string const temporary = path + ".part";
  input::make_way_for_file(temporary);
  try {
    std::ofstream file(temporary, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw RuntimeError(temporary + ": cannot be written: " + reason(errno));
    replace_file(temporary, path);
  } catch (RuntimeError const&) {
    ::unlink(temporary.c_str());  // leave no partial file
    throw;
  }
}

void write_chosen_file(std::string const& path, std::string_view text) {
  if (!is_no_file(path)) return write_text_file(target_of(path), text);
  std::cout.flush();  // what was printed before comes first if `path` is standard output
  OpenFile const file(open_stream(path));
  write_stream(path, file.get(), text);
}

void require_writable_file(std::string const& path) {
  require_open(path);
  if (is_no_file(path)) {
    if (!input::descriptor_of(path) && ::access(path.c_str(), W_OK) != 0) fail_unwritable(path, errno);
    OpenFile file(open_stream(path));
    std::error_code status;
    // The program keeps a pipe open to its end: to the pipe's reader, closing it now would be the end of the text.
    if (!input::descriptor_of(path) && fs::is_fifo(path, status)) static_cast<void>(file.release());
    return;
  }
  auto const temporary = target_of(path) + ".part";
  input::make_way_for_file(temporary);
  int const file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) fail_unwritable(path, errno);
  ::close(file);
  ::unlink(temporary.c_str());
}

}  // namespace bellwether::app
