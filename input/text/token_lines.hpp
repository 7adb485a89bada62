// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/text/wordpiece.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace bellwether::input {

/// Counts over a text that was converted into ids.
struct LineCount {
  std::int64_t lines = 0, tokens = 0;
  std::int64_t unknown = 0;                    ///< tokens that are [UNK]
  std::int64_t bytes = 0, overlong_bytes = 0;  ///< of the text; those in words of more than 100 characters
  std::int64_t invalid_lines = 0;              ///< lines that contain bytes that are not UTF-8; those bytes are dropped
  std::int64_t first_invalid = 0;              ///< number of the first one, from 1
  std::int64_t words = 0;                      ///< tokens that begin a word
  std::vector<std::string> markup;             ///< warnings about parts that look like markup (see text_kind.hpp)
};

/// Reads lines from `in` and writes a line of ids separated by spaces to `out` for each, in order, on `threads`
/// threads. A line ends with a line feed, a carriage return, or carriage returns and a line feed. Memory: a few blocks
/// of 1 MiB, or of the longest line. Messages call `in` standard input and `out` standard output.
/// \throws InputError if `in` is not UTF-8 text (see text_kind.hpp); RuntimeError with the reason of a failed read or
/// write.
LineCount tokenize_lines(TokenizerTables const& tables, std::FILE* in, std::FILE* out, int threads);

}  // namespace bellwether::input
