// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/files/partial_folder.hpp"

#include "core/system/error.hpp"
#include "input/files/no_room.hpp"
#include "input/files/written_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace bellwether::input {

namespace fs = std::filesystem;

namespace {

/// Returns true if a file system, or another part of this one, is mounted there: such a folder cannot be renamed.
bool is_mount_point(fs::path const& folder) {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string point;
    for (int field = 0; field < 5; ++field) fields >> point;
    std::string name;
    for (std::size_t i = 0; i < point.size(); ++i) {  // blanks and the like are escaped as three octal digits
      bool const escaped = point[i] == '\\' && i + 3 < point.size();
      name += escaped ? static_cast<char>(std::stoi(point.substr(i + 1, 3), nullptr, 8)) : point[i];
      if (escaped) i += 3;
    }
    if (name == folder) return true;
  }
  return false;
}

/// \throws NoRoom or InputError if the folder cannot be read.
bool holds_nothing(fs::path const& folder) {
  std::error_code error;
  bool const empty = fs::is_empty(folder, error);
  if (error) throw_unreadable(folder.string() + ": cannot be read", error.value());
  return empty;
}

/// Resolves an existing empty folder, which keep() will replace. \throws InputError if it cannot be replaced.
fs::path replaceable(fs::path const& out) {
  std::error_code error;
  auto folder = fs::canonical(out, error);  // resolves links
  if (error) throw InputError(out.string() + ": cannot be inspected: " + error.message());
  auto const refuse = [&](std::string const& what) {
    throw InputError(out.string() + ": " + what + "; --out must name a new folder, or another empty one");
  };
  if (folder == fs::current_path(error)) refuse("is the working directory");
  if (is_mount_point(folder)) refuse("is a mount point");
  return folder;
}

}  // namespace

PartialFolder::PartialFolder(std::string const& out) : out_(fs::path(out).lexically_normal()) {
  if (!out_.has_filename()) out_ = out_.parent_path();
  if (auto const fault = length_fault(out_.string()); !fault.empty()) throw InputError("--out: " + fault);
  std::error_code error;
  if (fs::exists(fs::symlink_status(out_, error))) {
    if (!fs::is_directory(out_, error) || !holds_nothing(out_))
      throw InputError(out_.string() + ": exists already; --out must name a new or empty folder");
    out_ = replaceable(out_);
  }
  partial_ = out_.string() + ".partial";
  auto const there = fs::symlink_status(partial_, error);
  bool const was_there = fs::is_regular_file(fs::symlink_status(partial_ / marker, error));
  // An empty folder may be used: nothing is lost, and a call that was killed early leaves only that.
  if (fs::exists(there) && !(fs::is_directory(there) && (was_there || holds_nothing(partial_))))
    throw InputError(partial_.string() +
                     ": exists already and was not made by prepare, which needs this name for its work; rename it or "
                     "choose another --out");
  for (auto above = partial_.parent_path(); !above.empty() && !fs::exists(above, error); above = above.parent_path())
    made_.push_back(above);
  fs::create_directories(partial_, error);
  if (error) throw_unwritable(partial_.string() + ": cannot make this folder", error.value());
  take_marker(was_there);
  if (was_there) remove_leftovers();
}

void PartialFolder::remove_leftovers() {
  std::error_code error;
  for (fs::directory_iterator entry(partial_, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename() != marker) fs::remove_all(entry->path(), error);
  if (error) throw_unreadable(partial_.string() + ": cannot remove what an earlier call left", error.value());
}

void PartialFolder::take_marker(bool was_there) {
  using State = LockFile::State;
  auto const refuse = [&](std::string const& what) { throw InputError(partial_.string() + ": " + what); };
  try {
    lock_.emplace((partial_ / marker).string());
    if (lock_->state() == State::in_use)
      refuse("is in use by " + lock_->owner() + "; wait until it ends or choose another --out");
    if (lock_->state() == State::no_locks && was_there)
      refuse("was left by " + lock_->owner() + ", or is in use by it; if that process has ended, remove the folder");
    // Between opening and locking, the other process may have finished and removed its folder.
    if (!lock_->still_there()) refuse("was in use by another process just now; try again");
    lock_->sign();
  } catch (NoRoom const&) {
    discard();
    throw;
  } catch (RuntimeError const& error) {
    throw InputError(error.what());
  }
}

/// Removes what this object made. Leaves a folder alone that another process has replaced.
void PartialFolder::discard() noexcept {
  std::error_code failed, ignored;
  if (lock_ && lock_->is_lost()) return;
  if (lock_)
    fs::remove_all(partial_, failed);
  else
    fs::remove(partial_, ignored);  // fails if something is in it
  if (is_lack_of_descriptors(failed.value())) {
    lock_.reset();  // its descriptor serves to list the folder
    fs::remove_all(partial_, ignored);
  }
  for (auto const& folder : made_) fs::remove(folder, ignored);  // fails if something else is in it by now
}

PartialFolder::~PartialFolder() {
  if (!kept_) discard();
}

void PartialFolder::keep() {
  std::error_code error;
  if (lock_->is_lost())
    throw RuntimeError(partial_.string() + ": was removed, renamed or replaced during the work; nothing was written");
  // From here on the folder is the user's: without the marker, no later call removes it.
  fs::remove(partial_ / marker, error);
  kept_ = true;
  fs::rename(partial_, out_, error);
  if (error)
    throw RuntimeError(out_.string() + ": cannot rename the finished folder: " + error.message() +
                       "; the result is in " + partial_.string() + ": rename it to a new name");
}

PartialFile::PartialFile(std::string path, std::string const& fault_if_exists)
    : path_(std::move(path)), partial_(path_ + "." + std::to_string(getpid()) + ".partial") {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path_, error))) throw InputError(path_ + ": " + fault_if_exists);
  file_ = open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) throw_unwritable(path_ + ": cannot be written", errno);
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
  bool shown = close(std::exchange(file_, -1)) == 0;
  if (shown) {
    shown = renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
    // Network file systems may not support RENAME_NOREPLACE. Then there is a short race with a file that appears now.
    if (!shown && (errno == EINVAL || errno == ENOSYS)) {
      std::error_code error;
      errno = EEXIST;
      shown = !fs::exists(fs::symlink_status(path_, error)) && rename(partial_.c_str(), path_.c_str()) == 0;
    }
  }
  if (!shown) throw RuntimeError(path_ + ": cannot be written: " + std::strerror(errno));
  kept_ = true;
}

void PartialFile::roll_back() {
  if (kept_) unlink(path_.c_str());
}

}  // namespace bellwether::input
