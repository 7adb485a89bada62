// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/openmp_places.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <vector>

namespace bellwether {
namespace {

constexpr std::int64_t largest_number = 1'000'000;  // above the CPUs of any machine; products of two do not overflow

/// Reads numbers and signs from the front of a text. Ignores blanks.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool take(char sign) {
    skip_blanks();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::int64_t> number() {
    skip_blanks();
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return std::clamp(value, -largest_number, largest_number);
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

  std::string_view rest_;
};

/// The numbers first, first + step, ...
struct Numbers {
  std::int64_t first = 0, count = 1, step = 1;
  bool excluded = false;  ///< written with ! in front

  std::int64_t different() const { return step == 0 ? std::min<std::int64_t>(count, 1) : count; }
  bool hold(std::int64_t number) const {
    std::int64_t const distance = number - first;
    if (step == 0 || distance == 0) return distance == 0 && count > 0;
    return distance % step == 0 && distance / step > 0 && distance / step < count;
  }
};

/// Reads what follows a number or a place: ":count:step", ":count" or nothing.
Numbers numbers_from(std::int64_t first, Scanner& text) {
  Numbers numbers{.first = first};
  if (text.take(':')) numbers.count = text.number().value_or(0);
  if (text.take(':')) numbers.step = text.number().value_or(0);
  return numbers;
}

/// One entry of OMP_PLACES: numbers of CPUs, and the distances at which they are repeated.
struct Entry {
  std::vector<Numbers> cpus;
  Numbers shifts;
  bool excluded = false;  ///< written with ! in front

  bool names(std::int64_t cpu) const {
    for (std::int64_t i = 0; i < std::min(shifts.count, largest_number); ++i)
      if (std::ranges::any_of(cpus, [&](auto const& some) { return some.hold(cpu - i * shifts.step); })) return true;
    return false;
  }
};

std::vector<Entry> entries_of(std::string_view places) {
  Scanner text(places);
  std::vector<Entry> entries;
  do {
    Entry entry;
    entry.excluded = text.take('!');
    if (text.take('{')) {
      do {
        bool const excluded = text.take('!');
        auto const first = text.number();
        if (!first) continue;
        entry.cpus.push_back(numbers_from(*first, text));
        entry.cpus.back().excluded = excluded;
      } while (text.take(','));
      text.take('}');
    } else if (auto const first = text.number()) {
      entry.cpus.push_back({.first = *first});
    }
    entry.shifts = numbers_from(0, text);
    entries.push_back(std::move(entry));
  } while (text.take(','));
  return entries;
}

/// Returns the first number of first, first + step, ... that is not in `online`, a sorted list.
std::optional<std::int64_t> missing_of(Numbers const& numbers, std::span<int const> online) {
  for (std::int64_t i = 0; i < numbers.different(); ++i) {  // ends early: only few numbers are in the list
    std::int64_t const number = numbers.first + i * numbers.step;
    if (!std::ranges::binary_search(online, number)) return number;
  }
  return std::nullopt;
}

std::optional<std::int64_t> missing_of(Entry const& entry, std::span<int const> online) {
  for (std::int64_t i = 0; i < entry.shifts.different(); ++i)
    for (auto numbers : entry.cpus) {
      numbers.first += i * entry.shifts.step;
      if (numbers.excluded) continue;
      if (auto const missing = missing_of(numbers, online)) return missing;
    }
  return std::nullopt;
}

bool is_abstract(std::string_view places) {
  return std::ranges::any_of(places, [](unsigned char c) { return std::isalpha(c) != 0; });
}

std::vector<Numbers> ranges_of(std::string_view list) {
  Scanner text(list);
  std::vector<Numbers> ranges;
  while (auto const first = text.number()) {
    Numbers range{.first = *first};
    std::int64_t const last = text.take('-') ? text.number().value_or(*first) : *first;
    if (text.take(':')) range.step = std::max<std::int64_t>(text.number().value_or(1), 1);
    range.count = (last - range.first) / range.step + 1;
    ranges.push_back(range);
    text.take(',');
  }
  return ranges;
}

}  // namespace

bool places_name(std::string_view places, std::span<int const> cpus) {
  if (is_abstract(places)) return true;
  auto const entries = entries_of(places);
  return std::ranges::all_of(
      cpus, [&](int cpu) { return std::ranges::any_of(entries, [&](auto const& entry) { return entry.names(cpu); }); });
}

std::optional<std::int64_t> missing_cpu(std::string_view places, std::span<int const> online) {
  if (is_abstract(places) || online.empty()) return std::nullopt;
  for (auto const& entry : entries_of(places))
    if (auto const missing = entry.excluded ? std::nullopt : missing_of(entry, online)) return missing;
  return std::nullopt;
}

std::vector<int> online_cpus(std::string const& root) {
  std::ifstream file(root + "/sys/devices/system/cpu/online");
  std::string line;
  std::getline(file, line);
  std::vector<int> cpus;
  for (auto const& range : ranges_of(line))  // "0-3,8"
    for (std::int64_t i = 0; i < range.count; ++i) cpus.push_back(static_cast<int>(range.first + i * range.step));
  std::ranges::sort(cpus);
  return cpus;
}

bool affinity_names(std::string_view list, std::span<int const> cpus) {
  auto const ranges = ranges_of(list);
  return std::ranges::all_of(
      cpus, [&](int cpu) { return std::ranges::any_of(ranges, [&](auto const& range) { return range.hold(cpu); }); });
}

}  // namespace bellwether
