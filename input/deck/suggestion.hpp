// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// Returns the least number of insertions, deletions, replacements and swaps of adjacent characters that turn `a` into
/// `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the word most similar to `word`, or an empty text if none is similar enough.
std::string nearest_word(std::string_view word, std::vector<std::string> const& words);

/// Returns " (did you mean 'word'?)" with the most similar of `words`, or an empty text.
std::string did_you_mean(std::string_view word, std::vector<std::string> const& words);

/// "a, b, c"
std::string joined(std::vector<std::string> const& words);

}  // namespace bellwether::input
