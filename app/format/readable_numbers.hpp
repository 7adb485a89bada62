// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

/// Numbers as a person reads them at a glance. Those of a progress line write into the caller's buffer and allocate
/// nothing.
namespace bellwether::app {

using ShortText = std::array<char, 24>;

ShortText count_text(double value);       ///< 950, 12.3k, 4.56M
ShortText duration_text(double seconds);  ///< 42s, 12m30s, 3h05m, 2d04h
ShortText loss_text(double value);        ///< 5.312, - where not measured
ShortText share_text(double value);       ///< 24.1%, - where not measured

std::string bytes_text(std::int64_t count);  ///< 512 bytes, 1.5 KiB, 22.4 GiB

/// "1 step", "2 steps".
std::string counted(std::int64_t count, char const* what);

/// What a run has learned of its gradients' noise, in a sentence. scale, critical_batch in sequences, trace: of the
/// last row of /steps, NaN where not known; batch: sequences a step of this run.
std::string noise_text(double scale, double critical_batch, double trace, std::int64_t batch);

/// What a progress line says.
struct ProgressLine {
  std::int64_t step = 0, steps = 0;
  double loss = 0, mlm_accuracy = 0, learning_rate = 0, tokens_per_second = 0, gemm_share = 0, seconds_left = 0;
  bool skipped = false;
};

/// At most `size` - 1 characters of the line in full words, for files; the length.
std::size_t format_line(ProgressLine const& line, char* out, std::size_t size);

/// The line for a terminal of that many columns, of which the last one stays free; the length, below `size`. 80 columns
/// hold every item, in short words and at fixed places. Where they do not fit, whole items go, in the order learning
/// rate, share of GEMM speed, tokens a second, accuracy, time left, loss, step.
std::size_t fit_line(ProgressLine const& line, std::size_t columns, char* out, std::size_t size);

}  // namespace bellwether::app
