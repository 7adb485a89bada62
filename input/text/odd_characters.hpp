// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bellwether::input {

/// What a character outside ASCII looks like to a person who reads a deck, but not to YAML.
enum class Oddity {
  blank,       ///< a space; U+00A0
  invisible,   ///< nothing; U+200B
  line_break,  ///< the end of a line; U+2028
  quote,       ///< a quotation mark; U+201C
  sign,        ///< another ASCII character; a fullwidth colon or digit
  letter       ///< an ASCII letter; a Cyrillic one
};

struct OddCharacter {
  std::size_t at = 0;     ///< byte offset in the text
  std::size_t bytes = 0;  ///< length in UTF-8
  char32_t code = 0;
  Oddity kind = Oddity::blank;
};

/// Returns the first odd character of a UTF-8 text at or after byte `from`.
std::optional<OddCharacter> find_odd(std::string_view text, std::size_t from = 0);

/// Returns code and name: "U+00A0 (no-break space)". Odd and control characters have names; for others it returns only
/// the code.
std::string character_name(char32_t code);

/// Returns what to do about an odd character: "type a space instead", "delete it", "type : instead".
std::string odd_advice(char32_t code);

/// Returns a text for a message, on one line. Line ends and tabs become spaces. Other control characters and all blank,
/// invisible or line-breaking characters become their code, `<U+200B>`. A byte that is not UTF-8 becomes `\xe9`.
std::string with_codes(std::string_view text);

}  // namespace bellwether::input
