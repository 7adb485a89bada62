// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/files/wait_for_bytes.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bellwether::input {

/// The tokens with a special meaning in BERT; a vocabulary must hold all of them.
struct SpecialTokens {
  std::int32_t pad = 0, unknown = 0, classify = 0, separate = 0, mask = 0;
};
inline constexpr std::string_view special_token_names[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

/// A WordPiece vocabulary: token i is line i of a vocab.txt; pieces inside a word begin with ##.
class Vocabulary {
 public:
  /// Reads a file, plain or gzip-compressed, one token a line. Ignores a byte order mark and white space at line ends.
  /// poll: ends a wait for bytes of a pipe by throwing.
  ///
  /// \throws InputError naming file and line of each empty, repeated or wrongly encoded token, of one with a blank or
  /// tab inside, and of a comment. It also names missing special tokens, or the kind of a file that is not text.
  static Vocabulary read(std::string const& path, WaitPoll const& poll = {});
  /// Constructs it from memory; `name` is used in messages.
  Vocabulary(std::vector<std::string> tokens, std::string const& name);

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  std::string const& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  std::optional<std::int32_t> find(std::string_view token) const;
  SpecialTokens const& special() const { return special_; }
  bool is_special(std::int32_t id) const;
  bool begins_word(std::int32_t id) const;  ///< false for tokens like ##ing
  bool has_letter(std::int32_t id) const;   ///< false for numbers, punctuation and symbols
  std::int64_t accented_tokens() const;     ///< tokens with accents, which the clean-up strips from text
  std::int64_t cased_tokens() const;        ///< tokens with capital letters, except names in brackets like [CLS]

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string_view, std::int32_t> ids_;  // the keys point into tokens_, whose buffer survives a move
  SpecialTokens special_;

 public:
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(Vocabulary const&) = delete;
  Vocabulary& operator=(Vocabulary const&) = delete;
};

/// Writes one token a line; writes to a temporary name first. \throws RuntimeError if the file cannot be written.
void write_vocabulary(std::string const& path, std::vector<std::string> const& tokens);

}  // namespace bellwether::input
