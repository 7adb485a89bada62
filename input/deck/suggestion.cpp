// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/suggestion.hpp"

#include <algorithm>

namespace bellwether::input {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t const change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::string nearest_word(std::string_view word, std::vector<std::string> const& words) {
  // A word this long is not a typing error, and comparing it would be slow.
  if (word.size() > 64) return {};
  std::string best;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (auto const& candidate : words) {
    std::size_t const distance = edit_distance(word, candidate);
    bool const begins = word.size() >= 3 && candidate.starts_with(word);
    std::size_t const cost = begins ? std::min<std::size_t>(distance, 1) : distance;
    if (cost < fewest) {
      fewest = cost;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::vector<std::string> const& words) {
  auto const near = nearest_word(word, words);
  return near.empty() ? "" : " (did you mean '" + near + "'?)";
}

std::string joined(std::vector<std::string> const& words) {
  std::string text;
  for (auto const& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace bellwether::input
