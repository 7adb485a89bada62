// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/partial_folder.hpp"

#include "core/error.hpp"

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

namespace fs = std::filesystem;

std::string owner() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(getpid()) + " on " + host.data() + "\n";
}

std::string first_line(int file) {
  std::array<char, 320> text{};
  auto const size = pread(file, text.data(), text.size(), 0);
  std::string const line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  auto const first = line.substr(0, line.find('\n'));
  return first.empty() ? "another process" : first;
}

bool is_same_file(int file, fs::path const& path) {
  struct stat open_one {};
  struct stat named {};
  return fstat(file, &open_one) == 0 && lstat(path.c_str(), &named) == 0 && open_one.st_dev == named.st_dev &&
         open_one.st_ino == named.st_ino;
}

}  // namespace

PartialFolder::PartialFolder(std::string const& out) : out_(fs::path(out).lexically_normal()) {
  if (!out_.has_filename()) out_ = out_.parent_path();
  partial_ = out_.string() + ".partial";
  std::error_code error;
  if (fs::exists(fs::symlink_status(out_, error)) && !(fs::is_directory(out_, error) && fs::is_empty(out_, error)))
    throw InputError(out_.string() + ": exists already; --out must name a new or empty folder");
  auto const there = fs::symlink_status(partial_, error);
  bool const was_there = fs::is_regular_file(fs::symlink_status(partial_ / marker, error));
  // What is empty may be had: there is nothing to lose, and a call that was killed early leaves no more.
  if (fs::exists(there) && !(fs::is_directory(there) && (was_there || fs::is_empty(partial_, error))))
    throw InputError(partial_.string() +
                     ": exists already and was not made by prepare; rename it, or another --out: the new folder is "
                     "made under this name");
  for (auto above = partial_.parent_path(); !above.empty() && !fs::exists(above, error); above = above.parent_path())
    made_.push_back(above);
  fs::create_directories(partial_, error);
  if (error) throw InputError(partial_.string() + ": cannot make this folder: " + error.message());
  take_marker(was_there);
  for (fs::directory_iterator entry(partial_, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename() != marker) fs::remove_all(entry->path(), error);
  if (error) {
    close(file_);
    throw InputError(partial_.string() + ": cannot be cleared of what an earlier call left: " + error.message());
  }
}

void PartialFolder::take_marker(bool was_there) {
  auto const path = partial_ / marker;
  auto const refuse = [&](std::string const& what) {
    if (file_ >= 0) close(file_);
    throw InputError(partial_.string() + ": " + what);
  };
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file_ < 0) refuse(std::string("cannot be written: ") + std::strerror(errno));
  bool const locked = flock(file_, LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK)
    refuse("is in use by " + first_line(file_) + "; wait until it ends or another --out");
  if (!locked && was_there)  // a file system without locks
    refuse("was left by " + first_line(file_) + ", or is in use by it; remove the folder if that has ended");
  // Between opening and locking, the other one may have finished and taken its folder away.
  if (!is_same_file(file_, path)) refuse("was in use by another process just now; try again");
  auto const text = owner();
  if (ftruncate(file_, 0) != 0 || pwrite(file_, text.data(), text.size(), 0) < 0)
    refuse(std::string("cannot be written: ") + std::strerror(errno));
}

PartialFolder::~PartialFolder() {
  std::error_code ignored;
  if (!kept_) {
    fs::remove_all(partial_, ignored);
    for (auto const& folder : made_) fs::remove(folder, ignored);  // where nothing else is in it by now
  }
  close(file_);
}

void PartialFolder::keep() {
  std::error_code error;
  fs::rename(partial_, out_, error);
  if (error) throw RuntimeError(out_.string() + ": cannot rename the finished folder: " + error.message());
  kept_ = true;
  fs::remove(out_ / marker, error);
}

PartialFile::PartialFile(std::string path, std::string const& fault_if_exists)
    : path_(std::move(path)), partial_(path_ + "." + std::to_string(getpid()) + ".partial") {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path_, error))) throw InputError(path_ + ": " + fault_if_exists);
  file_ = open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) throw InputError(path_ + ": cannot be written: " + std::strerror(errno));
}

PartialFile::~PartialFile() {
  if (file_ >= 0) close(file_);
  if (!kept_) unlink(partial_.c_str());
}

void PartialFile::write(std::string_view text) {
  while (!text.empty()) {
    auto const written = ::write(file_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw RuntimeError(path_ + ": cannot be written: " + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void PartialFile::keep() {
  int const closed = close(std::exchange(file_, -1));
  if (closed != 0 || rename(partial_.c_str(), path_.c_str()) != 0)
    throw RuntimeError(path_ + ": cannot be written: " + std::strerror(errno));
  kept_ = true;
}

void PartialFile::take_back() {
  if (kept_) unlink(path_.c_str());
}

}  // namespace bellwether::input
