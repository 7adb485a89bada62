// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string_view>

namespace bellwether::input {

/// Calls `visit` for each line, without its line end: a line feed, or a carriage return and a line feed.
template <class Visit>
void for_each_line(std::string_view text, Visit const& visit) {
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    auto const line = text.substr(0, end);
    visit(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace bellwether::input
