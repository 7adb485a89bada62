// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands/option_checks.hpp"

#include "app/format/formatted.hpp"
#include "core/system/environment.hpp"
#include "input/deck/suggestion.hpp"
#include "input/files/written_path.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace bellwether::app {
namespace {

using input::did_you_mean;
using input::joined;

std::string shortest(double value) { return formatted("%.6g", value); }

}  // namespace

OptionCheck whole_numbers(std::int64_t low, std::int64_t high) {
  std::string const range = std::to_string(low) + " to " + std::to_string(high);
  auto const fault = [low, high, range](std::string const& text) -> std::string {
    std::int64_t value = 0;
    auto const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, value);
    bool const octal = text.size() > 1 && text[0] == '0';
    if (error == std::errc() && stop == end && !octal && value >= low && value <= high) return "";
    return shown(text) + "; allowed: a whole number from " + range;
  };
  return {fault, range};
}

OptionCheck numbers(double low, double high) {
  std::string const range = shortest(low) + " to " + shortest(high);
  auto const fault = [low, high, range](std::string const& text) -> std::string {
    double value = 0;
    auto const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= low && value <= high) return "";
    return shown(text) + "; allowed: a number from " + range;
  };
  return {fault, range};
}

OptionCheck one_of(std::vector<std::string> const& words) {
  auto const fault = [words](std::string const& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    return shown(text) + did_you_mean(text, words) + "; one of " + joined(words);
  };
  return {fault, joined(words)};
}

OptionCheck paths() {
  auto const fault = [](std::string const& path) {
    return input::unexpanded_path(path, ".", input::Tilde::where_it_exists);
  };
  return {fault, ""};
}

OptionCheck element_counts() {
  auto const fault = [](std::string const& text) -> std::string {
    if (element_count(text)) return "";
    return shown(text) + "; allowed: a whole number from 1 to 1024Gi, optionally with the unit Ki, Mi or Gi";
  };
  return {fault, "COUNT"};
}

std::optional<std::int64_t> element_count(std::string const& text) {
  std::int64_t value = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value);
  std::string_view const unit(stop, static_cast<std::size_t>(end - stop));
  constexpr std::int64_t most = std::int64_t{1} << 40;
  int const shift = unit.empty() ? 0 : unit == "Ki" ? 10 : unit == "Mi" ? 20 : unit == "Gi" ? 30 : -1;
  if (error != std::errc() || shift < 0 || value < 1 || value > (most >> shift)) return std::nullopt;
  return value << shift;
}

std::string shown(std::string const& value) { return "'" + shortened(value, 64) + "'"; }

}  // namespace bellwether::app
