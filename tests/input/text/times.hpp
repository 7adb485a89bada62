// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// Returns `count` copies of a line, one after another.
inline std::string times(int count, std::string const& line) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line;
  return text;
}
