// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/input/temporary_folder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

/// Runs one input of a fuzz target. libFuzzer passes generated inputs; main.cpp passes the files of a corpus. Faults
/// that a user can cause must end in an InputError, which a target catches; every other fault ends the process.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace bellwether::fuzz {

/// Ends the process like a sanitizer if a condition is false.
inline void must(bool holds, char const* what) {
  if (holds) return;
  std::cerr << "does not hold: " << what << '\n';
  std::abort();
}

/// Splits an input into parts. Returns zeros and empty texts once it is used up.
class Bytes {
 public:
  Bytes(std::uint8_t const* data, std::size_t size) : left_(reinterpret_cast<char const*>(data), size) {}
  std::uint8_t byte() {
    auto const part = text(1);
    return part.empty() ? 0 : static_cast<std::uint8_t>(part[0]);
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  std::string_view text(std::size_t most) {
    auto const part = left_.substr(0, most);
    left_.remove_prefix(part.size());
    return part;
  }
  /// Returns the text up to a separator and skips the separator.
  std::string_view up_to(char separator) {
    auto const part = text(std::min(left_.find(separator), left_.size()));
    text(1);
    return part;
  }
  std::string_view rest() { return text(left_.size()); }
  bool empty() const { return left_.empty(); }

 private:
  std::string_view left_;
};

/// The folder for files of this process.
inline TemporaryFolder const& scratch() {
  static TemporaryFolder const folder;
  return folder;
}

inline std::string in_file(char const* name, std::string_view content) {
  auto const path = scratch() / name;
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  return path;
}

}  // namespace bellwether::fuzz
