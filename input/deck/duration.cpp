// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/duration.hpp"

#include <charconv>
#include <cstdio>

namespace bellwether::input {
namespace {

constexpr int most_days = 999, hours_a_day = 24, most_hours = most_days * hours_a_day;

/// Parses a whole number without sign, of exactly `digits` digits unless `digits` is 0.
std::optional<int> number(std::string_view text, std::size_t digits = 0) {
  int value = 0;
  auto const* const end = text.data() + text.size();
  if (text.empty() || text[0] == '-' || (digits != 0 && text.size() != digits)) return std::nullopt;
  auto const [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::chrono::seconds> duration_of(std::string_view text) {
  std::optional<int> days = 0;
  auto const dash = text.find('-');
  if (dash != text.npos) {
    days = number(text.substr(0, dash));
    text.remove_prefix(dash + 1);
  }
  auto const first = text.find(':'), last = text.rfind(':');
  if (first == text.npos || first == last) return std::nullopt;
  auto const hours = number(text.substr(0, first), dash == text.npos ? 0 : 2);
  auto const minutes = number(text.substr(first + 1, last - first - 1), 2);
  auto const seconds = number(text.substr(last + 1), 2);
  if (!days || !hours || !minutes || !seconds) return std::nullopt;
  if (*days > most_days || *hours > most_hours || *minutes > 59 || *seconds > 59) return std::nullopt;
  if (dash != text.npos && *hours >= hours_a_day) return std::nullopt;
  auto const whole = std::chrono::hours(*days * hours_a_day + *hours) + std::chrono::minutes(*minutes) +
                     std::chrono::seconds(*seconds);
  return whole.count() > 0 ? std::optional<std::chrono::seconds>(whole) : std::nullopt;
}

bool has_duration_form(std::string_view text) {
  std::string form;  // every digit replaced by 0
  for (char const c : text) form += c >= '0' && c <= '9' ? '0' : c;
  auto const digits = form.find_first_not_of('0');
  if (digits == 0 || digits == form.npos) return false;
  std::string_view const rest = std::string_view(form).substr(digits);
  return rest == ":00:00" || rest == "-00:00:00";
}

std::string duration_text(std::chrono::seconds duration) {
  auto const all = duration.count();
  auto const hours = all / 3600, minutes = all / 60 % 60, seconds = all % 60;
  char text[48];
  if (hours >= 2 * hours_a_day)
    std::snprintf(text, sizeof text, "%lld-%02lld:%02lld:%02lld", static_cast<long long>(hours / hours_a_day),
                  static_cast<long long>(hours % hours_a_day), static_cast<long long>(minutes),
                  static_cast<long long>(seconds));
  else
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", static_cast<long long>(hours),
                  static_cast<long long>(minutes), static_cast<long long>(seconds));
  return text;
}

}  // namespace bellwether::input
