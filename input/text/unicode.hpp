// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

inline constexpr char32_t replacement_character = 0xFFFD;

/// Decodes one code point at `position` and advances it. Bytes that are not UTF-8 (including overlong forms, surrogates
/// and codes above U+10FFFF) give U+FFFD, one for each maximal part of a sequence, as Unicode 3.9 recommends.
char32_t decode_utf8(std::string_view text, std::size_t& position);
void append_utf8(std::string& text, char32_t code);
std::size_t count_code_points(std::string_view utf8);
bool is_valid_utf8(std::string_view text);

/// White space: tab to carriage return, and Unicode's space, line and paragraph separators (categories Zs, Zl, Zp).
bool is_white_space(char32_t c);
/// A character that shows nothing: white space, control and format characters (categories Cc and Cf).
bool is_invisible(char32_t c);
/// A letter, an ideograph or a mark (categories L and M).
bool is_letter(char32_t c);
bool is_small(char32_t c);     ///< a lower-case letter, also of scripts without capitals in use, such as Georgian
bool is_capital(char32_t c);   ///< a letter that lower-casing changes
bool is_accented(char32_t c);  ///< a non-spacing mark, or a character whose decomposition (NFD) has one

/// Characters that BERT-uncased's normalisation keeps and leaves out. Letters are counted after decomposition.
struct CharacterCounts {
  std::int64_t letters = 0;     ///< letters, ideographs and marks that are kept
  std::int64_t accents = 0;     ///< marks left out, U+0300 to U+036F: those of Latin, Greek and Cyrillic letters
  std::int64_t signs = 0;       ///< other marks left out: vowel signs of Hindi or Thai, voicing marks of Japanese
  std::int64_t unreadable = 0;  ///< private-use characters and written U+FFFD, left out
  std::int64_t separators = 0;  ///< zero-width spaces and non-joiners in words, left out: parts are joined

  CharacterCounts& operator+=(CharacterCounts const& other);
  bool operator==(CharacterCounts const&) const = default;
};

/// BERT-uncased's normalisation before WordPiece, character by character: clean-up, spaces around CJK ideographs, NFD,
/// removal of non-spacing marks, lower case, punctuation. Properties come from utf8proc. unicode_exceptions.hpp lists
/// where the reference (Hugging Face `tokenizers`) uses tables of another Unicode version.
class BertCharacters {
 public:
  BertCharacters();

  /// Appends the words of `text` to `words`, separated by single spaces. A word is a run without space or punctuation,
  /// or one punctuation character or ideograph. `text` may be split only at white space. Adds to `counts`, if given.
  void normalise(std::string_view text, std::string& words, CharacterCounts* counts = nullptr) const;

  bool is_space(char32_t c) const { return (traits_[c] & space) != 0; }
  bool is_punctuation(char32_t c) const { return (traits_[c] & punctuation) != 0; }
  bool is_removed(char32_t c) const { return (traits_[c] & removed) != 0; }

 private:
  enum Trait : std::uint8_t {
    removed = 1,
    space = 2,
    ideograph = 4,
    mark = 8,
    punctuation = 16,
    changes = 32,
    letter = 64
  };
  void decompose(char32_t c, std::vector<char32_t>& out) const;
  std::uint8_t combining_class(char32_t c) const;
  char32_t lower(char32_t c) const;
  bool is_newer(char32_t c) const;

  std::vector<std::uint8_t> traits_;  ///< (0x110000)
};

}  // namespace bellwether::input
