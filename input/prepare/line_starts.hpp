// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/text/text_reader.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bellwether::input {

/// Counts how lines of a text begin, to recognise text that is wrapped at a fixed width. Marks of quoted mail, `> `
/// once or several times, are no part of a line. Lengths are in characters.
class LineStarts {
 public:
  static constexpr std::int64_t few = 20;  ///< with fewer lines, the shares mean little

  /// Adds a line. `before` is the line before it in the same document, empty if there is none or it is not known.
  void add(std::string_view line, std::string_view before, TextPlace place);
  /// Adds the counts of later lines.
  LineStarts& operator+=(LineStarts const& later);

  /// Returns true if the text is wrapped at a fixed width. Then more than 40 % of the lines begin in the middle of a
  /// sentence. At one width most lines before them fit, but not with the first word of the next line. Code, chats and
  /// lists have lines of all lengths. Where capitals do not mark sentences, almost all lines must be so, and their
  /// lengths must differ as words do: records of a log have one length.
  bool are_wrapped() const;
  /// Returns true if most of the lines in a sentence are quoted mail.
  bool are_quoted() const { return 2 * quoted_ > in_sentence_; }
  /// Returns the share of the lines that begin in the middle of a sentence. They begin with a letter that is no
  /// capital, and the line before, in the same document, does not end with sentence punctuation.
  double share_in_sentence() const;
  TextPlace first_in_sentence() const { return first_; }  ///< the first such line, if there is any

 private:
  static constexpr std::int64_t shortest = 24, longest = 199;  ///< characters of the line before

  bool have_capitals() const;

  std::int64_t lines_ = 0, in_sentence_ = 0, upper_ = 0;
  std::int64_t caseless_ = 0, unspaced_ = 0, quoted_ = 0;  ///< of the lines in a sentence
  std::array<std::int64_t, longest + 1> lengths_{};        ///< lines in a sentence, by the length of the line before
  std::array<std::int64_t, longest + 1> joined_{};  ///< the same, by this length, a blank and the line's first word
  TextPlace first_;
};

/// Returns the warning about wrapped text; empty if there is none. \param place of the first line in a sentence.
std::string wrapped_warning(LineStarts const& starts, std::string const& place);

}  // namespace bellwether::input
