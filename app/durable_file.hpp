// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

/// What makes a file survive: contents on the device before its name, the name before the next step.
namespace bellwether::app {

/// fsync of a file or a folder. \throws RuntimeError naming it and the system's reason.
void sync_path(std::string const& path);

/// Synchronises `temporary`, gives it the name `path`, synchronises the folder: readers see the old or the new file.
/// \throws RuntimeError naming file and reason.
void replace_file(std::string const& temporary, std::string const& path);

/// A text file, whole or not at all, through `path`.part. \throws RuntimeError naming file and reason.
void write_text_file(std::string const& path, std::string_view text);

/// XXH3 of some text, 64 bits, as `xxhsum -H3` prints it.
std::string checksum_of(std::string_view text);

/// XXH3 of a file, 64 bits, in small portions.
class FileChecksum {
 public:
  /// \throws RuntimeError where the file cannot be opened.
  explicit FileChecksum(std::string const& path);
  ~FileChecksum();
  /// Reads on by at most 16 MiB. False: the end is reached. \throws RuntimeError where reading fails.
  bool advance();
  std::int64_t bytes() const { return bytes_; }  ///< read so far
  std::string digest() const;                    ///< of what was read so far

 private:
  struct Hash;
  std::string path_;
  std::ifstream file_;
  std::unique_ptr<Hash> hash_;
  std::string portion_;
  std::int64_t bytes_ = 0;
};

}  // namespace bellwether::app
