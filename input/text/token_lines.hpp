// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/text/wordpiece.hpp"

#include <cstdint>
#include <cstdio>

namespace bellwether::input {

/// Counts of a text that was turned into ids.
struct LineCount {
  std::int64_t lines = 0, tokens = 0;
  std::int64_t unknown = 0;                    ///< tokens that are [UNK]
  std::int64_t bytes = 0, overlong_bytes = 0;  ///< of the text, and in words of more than 100 characters
  std::int64_t invalid_lines = 0;              ///< lines with bytes that are not UTF-8, which are left out
  std::int64_t first_invalid = 0;              ///< number of the first one, from 1
  std::int64_t words = 0;                      ///< tokens that begin a word
  std::string markup;                          ///< a warning where the text looks like markup (see text_kind.hpp)
};

/// Reads lines from `in`, writes one line of ids separated by spaces for each to `out`, in order, on `threads` threads.
/// A line ends with a line feed, a carriage return, or carriage returns and a line feed. Memory: a few blocks of 1 MiB,
/// or of the longest line. \throws InputError where `in` holds no UTF-8 text (see text_kind.hpp); RuntimeError where
/// reading or writing fails, with the system's reason; it calls `in` standard input and `out` standard output, which
/// the program hands over.
LineCount tokenize_lines(TokenizerTables const& tables, std::FILE* in, std::FILE* out, int threads);

}  // namespace bellwether::input
