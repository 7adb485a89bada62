// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

namespace bellwether::app {

/// Formats like printf.
template <class... Values>
std::string formatted(char const* format, Values... values) {
  int const length = std::snprintf(nullptr, 0, format, values...);
  std::string text(static_cast<std::size_t>(std::max(0, length)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

/// Returns sixteen hexadecimal digits.
inline std::string hexadecimal(std::uint64_t value) {
  return formatted("%016llx", static_cast<unsigned long long>(value));
}

}  // namespace bellwether::app
