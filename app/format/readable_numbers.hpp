// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

/// Numbers in a short form for people. The functions for progress lines write into the caller's buffer and do not
/// allocate.
namespace bellwether::app {

using ShortText = std::array<char, 24>;

ShortText count_text(double value);       ///< 950, 12.3k, 4.56M
ShortText duration_text(double seconds);  ///< 42s, 12m30s, 3h05m, 2d04h
ShortText loss_text(double value);        ///< 5.312, or - if not measured
ShortText share_text(double value);       ///< 24.1%, or - if not measured

std::string bytes_text(std::int64_t count);  ///< 512 bytes, 1.5 KiB, 22.4 GiB

/// Returns "1 step", "2 steps".
std::string counted(std::int64_t count, char const* what);

/// Returns a sentence about the gradient noise of a run. The arguments scale, critical_batch (in sequences) and trace
/// come from the last row of /steps; NaN if unknown. The argument batch is the number of sequences per step.
std::string noise_text(double scale, double critical_batch, double trace, std::int64_t batch);

/// The contents of a progress line.
struct ProgressLine {
  std::int64_t step = 0, steps = 0;
  double loss = 0, mlm_accuracy = 0, learning_rate = 0, tokens_per_second = 0, gemm_share = 0, seconds_left = 0;
  bool skipped = false;
};

/// Writes the line with full words, for files, at most `size` - 1 characters. Returns its length.
std::size_t format_line(ProgressLine const& line, char* out, std::size_t size);

/// Writes the line for a terminal of `columns` columns, the last of which stays empty. Returns its length, which is
/// below `size`. 80 columns fit all items, abbreviated and at fixed positions. In fewer columns items are omitted in
/// this order: learning rate, share of GEMM speed, tokens per second, accuracy, time left, loss, step.
std::size_t fit_line(ProgressLine const& line, std::size_t columns, char* out, std::size_t size);

}  // namespace bellwether::app
