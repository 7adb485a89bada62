// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck_tree.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// Converts between byte offsets in a text and places (line, column). Columns count characters, as editors do; yaml-cpp
/// counts bytes.
class TextPlaces {
 public:
  explicit TextPlaces(std::string_view text);
  Place at(std::size_t byte) const;
  /// Returns the offset of the byte that is `column` bytes after the beginning of a line. Both count from 0.
  std::size_t byte(int line, int column) const;

 private:
  std::size_t size_;
  std::vector<std::size_t> line_starts_;
  std::vector<std::uint32_t> characters_;  // count of characters that begin before each byte; empty for ASCII
};

/// Rejects what no document may contain. That is too many bytes, bytes that are not UTF-8, control characters, and
/// carriage returns without a line feed. The parser treats the latter as part of the line. Adds the first fault to
/// `faults` and returns false if there is one.
bool readable(std::string_view text, std::vector<SyntaxFault>& faults);

/// Returns the first few odd characters of one unquoted scalar. `begin`: the byte offset in `text` where the scalar
/// begins.
std::vector<OddPlace> odd_places(std::string_view scalar, std::string_view text, std::size_t begin,
                                 TextPlaces const& places);

/// Searches the line of a parser error and the line before for a likely cause. Causes are a tab that indents a line,
/// and an odd character outside quotes and comments. `anywhere`: search the whole text, because the parser notices the
/// error only at the end. Returns "; U+0009 (tab) at 2:1 ...", or an empty text.
std::string likely_cause(std::string_view text, TextPlaces const& places, Place error, bool anywhere);

/// Returns "U+00A0 (no-break space) at 7:13: type a space instead". In an override the place is "as character 13 of the
/// value".
std::string described(OddPlace const& odd, bool in_override);

}  // namespace bellwether::input
