// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// Fewest insertions, deletions, replacements of a character and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word nearest to `word`, or empty where none is near enough to be what was meant.
std::string nearest_word(std::string_view word, std::vector<std::string> const& words);

/// " (did you mean 'word'?)" with the nearest of `words`, or empty.
std::string did_you_mean(std::string_view word, std::vector<std::string> const& words);

/// "a, b, c"
std::string joined(std::vector<std::string> const& words);

}  // namespace bellwether::input
