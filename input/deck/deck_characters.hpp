// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck_tree.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// Converts between bytes of a text and places, which count characters as editors do. yaml-cpp counts bytes.
class TextPlaces {
 public:
  explicit TextPlaces(std::string_view text);
  Place at(std::size_t byte) const;
  /// The byte that is `column` bytes behind the beginning of a line; both count from 0.
  std::size_t byte(int line, int column) const;

 private:
  std::size_t size_;
  std::vector<std::size_t> line_starts_;
  std::vector<std::uint32_t> characters_;  // that begin before each byte; empty: the text is ASCII
};

/// Finds what no document may hold: too many bytes, bytes that are not UTF-8, control characters, and carriage returns
/// that a line feed does not follow, which yaml-cpp takes for a part of the line. Adds one fault to `faults` and
/// returns false where there is any.
bool readable(std::string_view text, std::vector<SyntaxFault>& faults);

/// The odd characters of one scalar without quotes, at most a few; `begin`: the byte in `text` where the scalar begins.
std::vector<OddPlace> odd_places(std::string_view scalar, std::string_view text, std::size_t begin,
                                 TextPlaces const& places);

/// Looks on the line of a parser's error, and on the line before, for what may have caused it: a tab that indents a
/// line, or an odd character outside quotes and comments. `anywhere`: the parser has only noticed at the end.
/// Returns "; U+0009 (tab) at 2:1 ...", or nothing.
std::string likely_cause(std::string_view text, TextPlaces const& places, Place error, bool anywhere);

/// "U+00A0 (no-break space) at 7:13: type a space instead"; in an override, "as character 13 of the value".
std::string told(OddPlace const& odd, bool in_override);

}  // namespace bellwether::input
