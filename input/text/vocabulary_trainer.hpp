// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace bellwether::input {

/// How often each word occurs; words are cleaned, lower-cased and split as for WordPiece.
using WordCounts = std::unordered_map<std::string, std::int64_t>;

/// Counts the words of texts on `threads` threads. Memory: the distinct words. \throws InputError as TextReader does.
/// `progress` is told the bytes read and of all texts, between blocks; what it throws ends the count.
WordCounts count_words(std::vector<std::string> const& texts, int threads,
                       std::function<void(std::int64_t read, std::int64_t total)> const& progress);

struct TrainerRule {
  std::int64_t size = 30522;         ///< tokens, special ones and alphabet included
  std::int64_t alphabet = 1000;      ///< most frequent characters kept; words with others are left out
  std::int64_t least_frequency = 2;  ///< of a pair that is merged
};

/// Trains a WordPiece vocabulary as Hugging Face's trainer does: special tokens, the alphabet, then merges of the most
/// frequent pair of adjacent pieces (Sennrich et al., arXiv 1508.07909), the pair that began earlier in the list first
/// among equals. Depends on the counts alone. Shorter than `size` where no pair is frequent enough.
/// `poll`, if any, is called many times a second; what it throws ends the training.
/// \throws InputError where `size` does not hold special tokens and alphabet.
std::vector<std::string> train_vocabulary(WordCounts const& counts, TrainerRule const& rule,
                                          std::function<void()> const& poll = {});

}  // namespace bellwether::input
