// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// XXH3 with 64 bits, as `xxhsum -H3` prints it.
namespace bellwether::app {

class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;
  void add(std::span<std::byte const> bytes);
  std::string digest() const;  ///< of what was added so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string checksum_of(std::span<std::byte const> bytes);
std::string checksum_of(std::string_view text);
std::string checksum_of(std::vector<std::string> const& texts);  ///< one after another

/// The attribute of a data set with the checksum of its values.
constexpr auto checksum_name = "xxh3";

/// That of a file, in small portions.
class FileChecksum {
 public:
  /// \throws RuntimeError where the file cannot be opened.
  explicit FileChecksum(std::string const& path);
  /// Reads on by at most 1 MiB. False: the end is reached. \throws RuntimeError where reading fails.
  bool advance();
  std::int64_t bytes() const { return bytes_; }  ///< read so far
  std::string digest() const { return sum_.digest(); }

 private:
  std::string path_;
  std::ifstream file_;
  Checksum sum_;
  std::string portion_;
  std::int64_t bytes_ = 0;
};

}  // namespace bellwether::app
