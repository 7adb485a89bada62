// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/wordpiece.hpp"

#include <cstdint>
#include <cstdio>

namespace bellwether::input {

struct LineCount {
  std::int64_t lines = 0, tokens = 0;
};

/// Reads lines from `in`, writes one line of ids separated by spaces for each to `out`, in order, on `threads` threads.
/// Memory: a few blocks of 1 MiB, or of the longest line. \throws RuntimeError where reading or writing fails.
LineCount tokenize_lines(TokenizerTables const& tables, std::FILE* in, std::FILE* out, int threads);

}  // namespace bellwether::input
