// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace bellwether::input {

class TextReader;

/// Count of each word. Words are cleaned, lower-cased and split as for WordPiece.
using WordCounts = std::unordered_map<std::string, std::int64_t>;

/// Counts the words of all texts of `reader` on `threads` threads. Memory: the distinct words. `progress` is called
/// between blocks with the bytes read and the bytes of all texts; an exception from it ends the count.
/// \throws InputError as TextReader::next() does.
WordCounts count_words(TextReader& reader, int threads,
                       std::function<void(std::int64_t read, std::int64_t total)> const& progress);

struct TrainerRule {
  std::int64_t size = 30522;         ///< tokens, including special ones and the alphabet
  std::int64_t alphabet = 1000;      ///< most frequent characters to keep; words with others become [UNK]
  std::int64_t least_frequency = 2;  ///< minimum count of a pair to merge
};

/// How much of the words the alphabet of a vocabulary covers.
struct AlphabetCover {
  std::int64_t distinct = 0;    ///< distinct characters of the words
  std::int64_t kept = 0;        ///< those in the alphabet
  std::int64_t characters = 0;  ///< characters of all words
  std::int64_t lost = 0;        ///< those of words with a character outside the alphabet, which become [UNK]
};

struct TrainedVocabulary {
  std::vector<std::string> tokens;
  AlphabetCover alphabet;
};

/// Trains a WordPiece vocabulary as Hugging Face's trainer does: special tokens, the alphabet, then merges of the most
/// frequent pair of adjacent pieces (Sennrich et al., arXiv 1508.07909). Among equally frequent pairs it merges the one
/// with the smallest ids (left, then right). The result depends only on the counts. It is shorter than `size` if no
/// further pair is frequent enough.
/// `poll`, if given, is called many times a second; an exception from it ends the training.
/// \throws InputError if `size` is too small for special tokens and alphabet.
TrainedVocabulary train_vocabulary(WordCounts const& counts, TrainerRule const& rule,
                                   std::function<void()> const& poll = {});

}  // namespace bellwether::input
