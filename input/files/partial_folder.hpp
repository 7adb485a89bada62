// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/files/lock_file.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// The folder OUT.partial in which OUT is made. It holds a marker file that stays locked while this object lives. The
/// marker distinguishes it from a user's folder and from one that is in use: only leftovers of an earlier call are
/// replaced. The destructor removes the folder unless keep() was called.
class PartialFolder {
 public:
  static constexpr std::string_view marker = ".bellwether-prepare";

  /// \throws InputError if OUT exists and is not empty, or if OUT.partial cannot be created, is in use, or was not made
  /// by `prepare`.
  ///
  /// \throws NoRoom if the system lacks room for it or too many files are open.
  explicit PartialFolder(std::string const& out);
  ~PartialFolder();
  PartialFolder(PartialFolder const&) = delete;
  PartialFolder& operator=(PartialFolder const&) = delete;

  std::string path() const { return partial_.string(); }
  /// Renames the folder to OUT. \throws RuntimeError naming it and the system's reason.
  void keep();

 private:
  void take_marker(bool was_there);
  void remove_leftovers();
  void discard() noexcept;

  std::filesystem::path out_, partial_;
  std::vector<std::filesystem::path> made_;  ///< parent folders that this object created, deepest first
  std::optional<LockFile> lock_;             ///< the marker
  bool kept_ = false;
};

/// A text file that appears under its name, complete, when keep() is called. The destructor removes it unless it was
/// kept. The constructor creates a temporary file next to that name, so that an unwritable place is reported before the
/// work starts.
class PartialFile {
 public:
  /// \throws InputError if the file exists or cannot be created; NoRoom if the system lacks room for it.
  PartialFile(std::string path, std::string const& fault_if_exists);
  ~PartialFile();
  PartialFile(PartialFile const&) = delete;
  PartialFile& operator=(PartialFile const&) = delete;

  /// \throws RuntimeError naming the file and the system's reason.
  void write(std::string_view text);
  void keep();
  void roll_back();  ///< removes the file that keep() published

 private:
  std::string path_, partial_;
  int file_ = -1;
  bool kept_ = false;
};

}  // namespace bellwether::input
