// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/format/readable_numbers.hpp"

#include "app/format/formatted.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace bellwether::app {
namespace {

template <class... Values>
ShortText print(char const* form, Values... values) {
  ShortText text{};
  std::snprintf(text.data(), text.size(), form, values...);
  return text;
}

/// Returns 1.5e-3: six characters for every rate.
ShortText rate_text(double value) {
  if (!std::isfinite(value) || value <= 0) return print("0");
  int exponent = static_cast<int>(std::floor(std::log10(value)));
  double digits = value / std::pow(10.0, exponent);
  if (digits >= 9.95) {
    digits /= 10;
    ++exponent;
  }
  return print("%.1fe%d", digits, exponent);
}

/// One item of a line that is redrawn in place, padded on the right to `room` characters so that nothing moves.
struct Item {
  std::array<char, 64> text{};
  std::size_t room = 0;

  template <class... Values>
  explicit Item(std::size_t least, char const* form, Values... values) : room(least) {
    auto const length = std::snprintf(text.data(), text.size(), form, values...);
    room = std::max(room, std::min(static_cast<std::size_t>(std::max(0, length)), text.size() - 1));
  }
};

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

std::string bytes_text(std::int64_t count) {
  if (count < 1024) return counted(count, "byte");
  auto value = static_cast<double>(count);
  char const* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return formatted("%.1f %s", value, units[unit]);
}

std::string counted(std::int64_t count, char const* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string noise_text(double scale, double critical_batch, double trace, std::int64_t batch) {
  std::string const start = "gradient noise scale: ";
  if (std::isnan(trace))
    return start +
           "unknown; it needs several ranks and the norm of their mean gradient, or one rank with several "
           "micro-batches per step";
  auto const number = [](double value) { return std::string(count_text(value).data()); };
  std::string const own = "; this run's batch is " + std::to_string(batch);
  std::string const average = std::isnan(critical_batch)
                                  ? "too few steps for its average"
                                  : "on average " + number(critical_batch) + ", an estimate of the critical batch";
  if (std::isnan(scale)) return start + "unknown at the end, where noise hides the gradient; " + average + own;
  return start + number(scale) + " sequences at the end, " + average + own;
}

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
  if (line.skipped) add("  %s", "skipped");
  return std::min(static_cast<std::size_t>(std::max(0, length)), size - 1);
}

std::size_t fit_line(ProgressLine const& line, std::size_t columns, char* out, std::size_t size) {
  auto const total = print("%lld", static_cast<long long>(line.steps));
  int const digits = static_cast<int>(std::string_view(total.data()).size());
  bool const measured = std::isfinite(line.gemm_share);
  enum { step, loss, accuracy, rate, speed, share, left, count };
  std::array<Item, count> items = {Item(0, "step %*lld/%s", digits, static_cast<long long>(line.step), total.data()),
                                   Item(10,
                                        !std::isfinite(line.loss) ? "loss -"
                                        : line.loss < 10          ? "loss %.3f"
                                                                  : "loss %.4g",
                                        line.loss),
                                   Item(9, "mlm %s", share_text(line.mlm_accuracy).data()),
                                   Item(9, "lr %s", rate_text(line.learning_rate).data()),
                                   Item(11, "%s tok/s", count_text(line.tokens_per_second).data()),
                                   Item(8, measured ? "gemm %.0f%%" : "gemm -", 100 * line.gemm_share),
                                   Item(10, "left %s", duration_text(line.seconds_left).data())};
  constexpr std::array drops = {rate, share, speed, accuracy, left, loss, step};

  std::array<bool, count> shown{};
  shown.fill(true);
  std::size_t const room = std::min(std::max<std::size_t>(columns, 1) - 1, size - 1);
  auto const length = [&](std::size_t gap) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (shown[i]) sum += items[i].room + (sum > 0 ? gap : 0);
    return sum;
  };
  std::size_t gap = 2;
  if (length(gap) > room) gap = 1;
  if (length(gap) > room) items[step] = Item(0, "%*lld/%s", digits, static_cast<long long>(line.step), total.data());
  for (std::size_t d = 0; d < drops.size() && length(gap) > room; ++d) shown[drops[d]] = false;

  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (shown[i])
      at += static_cast<std::size_t>(std::snprintf(out + at, size - at, "%*s%-*s", at > 0 ? static_cast<int>(gap) : 0,
                                                   "", static_cast<int>(items[i].room), items[i].text.data()));
  out[at] = '\0';
  return at;
}

}  // namespace bellwether::app
