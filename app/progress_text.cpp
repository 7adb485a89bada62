// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/progress_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bellwether::app {
namespace {

template <class... Values>
ShortText print(char const* form, Values... values) {
  ShortText text{};
  std::snprintf(text.data(), text.size(), form, values...);
  return text;
}

}  // namespace

ShortText count_text(double value) {
  if (!std::isfinite(value)) return print("-");
  for (auto const& [unit, letter] : {std::pair{1e12, 'T'}, {1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}})
    if (value >= unit)
      return print(value < 10 * unit ? "%.2f%c" : value < 100 * unit ? "%.1f%c" : "%.0f%c", value / unit, letter);
  return print("%.0f", value);
}

ShortText duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return print("-");
  auto const whole = std::llround(seconds);
  if (whole < 60) return print("%llds", whole);
  if (whole < 3600) return print("%lldm%02llds", whole / 60, whole % 60);
  if (whole < 86400) return print("%lldh%02lldm", whole / 3600, whole % 3600 / 60);
  return print("%lldd%02lldh", whole / 86400, whole % 86400 / 3600);
}

ShortText loss_text(double value) { return std::isfinite(value) ? print("%.3f", value) : print("-"); }

ShortText share_text(double value) { return std::isfinite(value) ? print("%.1f%%", 100 * value) : print("-"); }

std::size_t format_line(ProgressLine const& line, char* out, std::size_t size) {
  double const done = line.steps > 0 ? 100.0 * static_cast<double>(line.step) / static_cast<double>(line.steps) : 0;
  int length = std::snprintf(out, size, "step %lld/%lld (%.0f%%)  loss %s  mlm acc %s  lr %.3g  %s tok/s",
                             static_cast<long long>(line.step), static_cast<long long>(line.steps), std::floor(done),
                             loss_text(line.loss).data(), share_text(line.mlm_accuracy).data(), line.learning_rate,
                             count_text(line.tokens_per_second).data());
  auto const add = [&](auto const*... arguments) {
    auto const used = std::min(static_cast<std::size_t>(std::max(0, length)), size - 1);
    length = static_cast<int>(used) + std::snprintf(out + used, size - used, arguments...);
  };
  if (std::isfinite(line.gemm_share)) add("  %s of GEMM speed", share_text(line.gemm_share).data());
  add("  %s left", duration_text(line.seconds_left).data());
  if (line.skipped) add("  %s", "skipped: gradient not finite");
  return std::min(static_cast<std::size_t>(std::max(0, length)), size - 1);
}

}  // namespace bellwether::app
