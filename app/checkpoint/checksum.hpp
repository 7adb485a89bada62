// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// XXH3 checksums of 64 bits in hexadecimal, equal to the output of `xxhsum -H3`.
namespace bellwether::app {

class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;
  void add(std::span<std::byte const> bytes);
  std::string digest() const;  ///< of all bytes added so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string checksum_of(std::span<std::byte const> bytes);
std::string checksum_of(std::string_view text);
std::string checksum_of(std::vector<std::string> const& texts);  ///< of the concatenated texts

/// Attribute of a data set that holds the checksum of its values.
constexpr auto checksum_name = "xxh3";

/// Computes the checksum of a file, or of its first bytes, in small portions.
class FileChecksum {
 public:
  /// most: bytes to read at most. \throws RuntimeError if the file cannot be opened.
  explicit FileChecksum(std::string const& path, std::int64_t most = std::numeric_limits<std::int64_t>::max());
  /// Reads at most 1 MiB more. Returns false at the end of the file or of `most` bytes. \throws RuntimeError if reading
  /// fails.
  bool advance();
  std::int64_t bytes() const { return bytes_; }  ///< read so far
  std::string digest() const { return sum_.digest(); }

 private:
  std::string path_;
  std::ifstream file_;
  Checksum sum_;
  std::string portion_;
  std::int64_t bytes_ = 0, most_;
};

}  // namespace bellwether::app
