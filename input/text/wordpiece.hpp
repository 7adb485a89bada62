// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/text/unicode.hpp"
#include "input/text/vocabulary.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// Greedy longest match over a vocabulary. The edges (node, byte) of a trie are in one open-addressed table.
class PieceTrie {
 public:
  explicit PieceTrie(Vocabulary const& vocabulary);

  /// Appends the pieces of one word, or [UNK] if a part has no piece or the word has more than 100 characters.
  void split(std::string_view word, std::vector<std::int32_t>& ids) const;
  static bool is_overlong(std::string_view word) {
    return word.size() > most_characters && count_code_points(word) > most_characters;
  }

  static constexpr std::size_t most_characters = 100;

 private:
  struct Edge {
    std::uint64_t key = 0;  ///< (node << 8 | byte) + 1; 0: free
    std::int32_t node = 0;
  };
  std::int32_t child(std::int32_t node, unsigned char byte) const;  ///< -1: none
  std::int32_t add_child(std::int32_t node, unsigned char byte);
  void add(std::int32_t root, std::string_view piece, std::int32_t id);

  static constexpr std::int32_t start_root = 0, inside_root = 1;
  std::vector<Edge> edges_;
  std::vector<std::int32_t> tokens_;  ///< token id of each node, -1: none
  std::int32_t unknown_;
};

/// Selects whether [CLS], [MASK] and the like, written in a text, become these tokens. Hugging Face and `tokenize`
/// convert them; BERT's own data preparation and `prepare` treat them as ordinary characters.
enum class WrittenSpecials { tokens, characters };

/// Shared tables that convert BERT-uncased text to ids. Each thread owns a Tokenizer, which caches words.
class TokenizerTables {
 public:
  explicit TokenizerTables(Vocabulary const& vocabulary);
  Vocabulary const& vocabulary() const { return *vocabulary_; }
  BertCharacters const& characters() const { return characters_; }
  PieceTrie const& trie() const { return trie_; }
  std::int32_t ascii_token(unsigned char c) const { return ascii_tokens_[c]; }

  enum class Ascii : std::uint8_t { word, space, punctuation, other };
  Ascii ascii(unsigned char c) const { return ascii_[c]; }

 private:
  Vocabulary const* vocabulary_;
  BertCharacters characters_;
  PieceTrie trie_;
  std::array<std::int32_t, 128> ascii_tokens_;  ///< of one-character words
  std::array<Ascii, 256> ascii_;                ///< other: needs the general path (control characters, bytes above 7F)
};

class Tokenizer {
 public:
  Tokenizer(TokenizerTables const& tables, WrittenSpecials written);
  /// Appends the ids of `text`. Bytes that are not UTF-8 count as U+FFFD, which the clean-up removes.
  void encode(std::string_view text, std::vector<std::int32_t>& ids);
  /// Returns the total bytes of words of more than 100 characters so far; each became [UNK].
  std::int64_t overlong_bytes() const { return overlong_bytes_; }

 private:
  static constexpr std::size_t cached_bytes = 26, cached_ids = 9, cache_size = std::size_t{1} << 15;
  struct Cached {
    std::uint8_t length = 0, count = 0;
    std::array<char, cached_bytes> bytes;
    std::array<std::int32_t, cached_ids> ids;
  };
  static_assert(sizeof(Cached) == 64);

  void encode_plain(std::string_view text, std::vector<std::int32_t>& ids);
  template <class Slow>
  void encode_cached(std::string_view key, std::uint64_t hash, std::vector<std::int32_t>& ids, Slow const& slow);
  void encode_ascii_word(std::string_view word, std::vector<std::int32_t>& ids);
  void encode_any(std::string_view chunk, std::vector<std::int32_t>& ids);
  void split(std::string_view word, std::vector<std::int32_t>& ids);

  TokenizerTables const& tables_;
  WrittenSpecials written_;
  std::vector<Cached> cache_;  ///< direct mapped
  std::string words_;
  std::int64_t overlong_bytes_ = 0;
};

}  // namespace bellwether::input
