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

/// The folder OUT.partial in which OUT is made. A marker file in it, locked as long as this object lives, tells it from
/// a folder of the user's and from one in use: only what an earlier call left behind is replaced. Gone unless kept.
class PartialFolder {
 public:
  static constexpr std::string_view marker = ".bellwether-prepare";

  /// \throws InputError where OUT exists and is not empty, where OUT.partial is not ours or is in use, or cannot be
  /// made.
  explicit PartialFolder(std::string const& out);
  ~PartialFolder();
  PartialFolder(PartialFolder const&) = delete;
  PartialFolder& operator=(PartialFolder const&) = delete;

  std::string path() const { return partial_.string(); }
  /// Gives the folder the name OUT. \throws RuntimeError naming it and the system's reason.
  void keep();

 private:
  void take_marker(bool was_there);

  std::filesystem::path out_, partial_;
  std::vector<std::filesystem::path> made_;  ///< folders above, which were not there, the deepest first
  std::optional<LockFile> lock_;             ///< the marker
  bool kept_ = false;
};

/// A text file that appears under its name when keep() is called, whole; gone unless it is kept. It is made beside that
/// name at once, so that a place that cannot be written is told before the work is done.
class PartialFile {
 public:
  /// \throws InputError where the file exists or cannot be made.
  PartialFile(std::string path, std::string const& fault_if_exists);
  ~PartialFile();
  PartialFile(PartialFile const&) = delete;
  PartialFile& operator=(PartialFile const&) = delete;

  /// \throws RuntimeError naming the file and the system's reason.
  void write(std::string_view text);
  void keep();
  void roll_back();  ///< removes what keep() has shown

 private:
  std::string path_, partial_;
  int file_ = -1;
  bool kept_ = false;
};

}  // namespace bellwether::input
