// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bellwether::input {

/// What a character outside ASCII is taken for by whoever reads a deck, and never by YAML.
enum class Oddity {
  blank,       ///< a space, as U+00A0
  invisible,   ///< nothing, as U+200B
  line_break,  ///< the end of a line, as U+2028
  quote,       ///< a quotation mark, as U+201C
  sign,        ///< another mark of ASCII, as a fullwidth colon, or a digit
  letter       ///< a letter of ASCII, as a Cyrillic one
};

struct OddCharacter {
  std::size_t at = 0;     ///< byte in the text
  std::size_t bytes = 0;  ///< in UTF-8
  char32_t code = 0;
  Oddity kind = Oddity::blank;
};

/// The first odd character of a text in UTF-8 at or behind byte `from`.
std::optional<OddCharacter> find_odd(std::string_view text, std::size_t from = 0);

/// Code and name: "U+00A0 (no-break space)". Control characters have names, too; others than these and the odd ones
/// have their code alone.
std::string character_name(char32_t code);

/// What to do about an odd character: "type a space instead", "delete it", "type : instead".
std::string odd_advice(char32_t code);

/// A text for a message, on one line: line ends and tabs become spaces; every other control character and all that is
/// blank, invisible or a line break becomes its code, `<U+200B>`; a byte that is not UTF-8 becomes `\xe9`.
std::string with_codes(std::string_view text);

}  // namespace bellwether::input
