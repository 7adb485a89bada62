// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/environment.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

namespace bellwether {
namespace {

constexpr std::size_t most_shown = 40;

std::string_view trimmed(std::string_view text) {
  constexpr auto blanks = " \t\n";
  auto const first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string all(text);
  std::ranges::transform(all, all.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return all;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool is_from(std::string_view text, std::int64_t low) {
  auto const value = whole(text);
  return value && *value >= low && *value <= std::numeric_limits<int>::max();
}

bool is_count(std::string_view text) { return is_from(text, 1); }
bool is_index(std::string_view text) { return is_from(text, 0); }

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, lower(text)) != words.end();
}

template <class Holds>
bool is_list(std::string_view text, Holds const& holds) {
  for (;;) {
    auto const comma = text.find(',');
    if (!holds(trimmed(text.substr(0, comma)))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool is_switch(std::string_view text) { return is_one_of(text, {"true", "yes", "1", "false", "no", "0"}); }

/// Parses "512", in KiB, or a number with a unit.
std::optional<std::size_t> bytes_of(std::string_view text) {
  std::size_t unit = 1024;
  auto digits = trimmed(text);
  if (!digits.empty() && std::isalpha(static_cast<unsigned char>(digits.back())) != 0) {
    constexpr std::string_view units = "bkmg";
    auto const place = units.find(static_cast<char>(std::tolower(static_cast<unsigned char>(digits.back()))));
    if (place == std::string_view::npos) return std::nullopt;
    unit = std::size_t{1} << (10 * place);
    digits = trimmed(digits.substr(0, digits.size() - 1));
  }
  auto const count = whole(digits);
  if (!count || *count < 1 || static_cast<std::size_t>(*count) > std::numeric_limits<std::size_t>::max() / unit)
    return std::nullopt;
  return static_cast<std::size_t>(*count) * unit;
}

/// "cores", "sockets(2)", or explicit places such as "{0:4}:8:4,!{3}", whose numbers OpenMP itself checks.
bool is_places(std::string_view text) {
  auto const parenthesis = text.find('(');
  if (is_one_of(trimmed(text.substr(0, parenthesis)), {"threads", "cores", "ll_caches", "sockets", "numa_domains"}))
    return parenthesis == std::string_view::npos ||
           (text.back() == ')' && is_count(trimmed(text.substr(parenthesis + 1, text.size() - parenthesis - 2))));
  return !text.empty() && text.find_first_not_of("0123456789{}:,!- \t") == std::string_view::npos;
}

constexpr auto switch_words = "true, yes, 1, false, no or 0";
constexpr auto stack_words = "a size such as 512K, 8M or 1G";
bool is_stack(std::string_view text) { return bytes_of(text).has_value(); }

/// Variables that change the number or placement of threads, and those for which Kokkos ends the program on a fault.
constexpr VariableRule thread_rules[] = {
    {"KOKKOS_NUM_THREADS", "a whole number, 1 or more", is_count},
    {"KOKKOS_DEVICE_ID", "a whole number, 0 or more", is_index},
    {"KOKKOS_MAP_DEVICE_ID_BY", "random or mpi_rank",
     [](std::string_view text) { return text == "random" || text == "mpi_rank"; }},
    {"KOKKOS_DISABLE_WARNINGS", switch_words, is_switch},
    {"KOKKOS_PRINT_CONFIGURATION", switch_words, is_switch},
    {"KOKKOS_TUNE_INTERNALS", switch_words, is_switch},
    {"KOKKOS_VISIBLE_DEVICES", "device numbers separated by commas",
     [](std::string_view text) { return is_list(text, is_index); }},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "a whole number", is_index},  // Kokkos reads these four for a warning
    {"MV2_COMM_WORLD_LOCAL_SIZE", "a whole number", is_index},
    {"MPI_LOCALNRANKS", "a whole number", is_index},
    {"PMI_LOCAL_SIZE", "a whole number", is_index},
    {"OMP_NUM_THREADS", "a whole number, 1 or more, or several separated by commas",
     [](std::string_view text) { return is_list(text, is_count); }},
    {"OMP_THREAD_LIMIT", "a whole number, 1 or more", is_count},
    {"OMP_MAX_ACTIVE_LEVELS", "a whole number, 1 or more", is_count},
    {"OMP_DYNAMIC", "false, because a run keeps its number of threads",
     [](std::string_view text) {
       return is_one_of(text, {"false", "0"});
     }},
    {"OMP_PROC_BIND", "true, false, or a list of master, primary, close and spread",
     [](std::string_view text) {
       return is_one_of(text, {"true", "false"}) || is_list(text, [](std::string_view word) {
                return is_one_of(word, {"master", "primary", "close", "spread"});
              });
     }},
    {"OMP_PLACES", "threads, cores, sockets, or places such as {0:4},{4:4}", is_places},
    {"OMP_WAIT_POLICY", "active or passive",
     [](std::string_view text) {
       return is_one_of(text, {"active", "passive"});
     }},
    {"OMP_STACKSIZE", stack_words, is_stack},
    {"GOMP_STACKSIZE", stack_words, is_stack},
    {"GOMP_SPINCOUNT", "a number such as 3000, 10k or 2M, or infinite",
     [](std::string_view text) {
       if (is_one_of(text, {"infinite", "infinity"})) return true;
       constexpr std::string_view units = "kKmMgGtT";
       bool const unit = !text.empty() && units.find(text.back()) != std::string_view::npos;
       return whole(text.substr(0, text.size() - (unit ? 1 : 0))).value_or(-1) >= 0;
     }},
};

}  // namespace

std::string shortened(std::string const& value, std::size_t most) {
  if (value.size() <= most) return value;
  auto const continues = [&](std::size_t at) { return (static_cast<unsigned char>(value[at]) & 0xC0) == 0x80; };
  while (most > 0 && continues(most)) --most;
  return value.substr(0, most) + "...";
}

std::string fault_of_variable(std::string const& name, std::string const& value, std::string const& allowed) {
  return name + ": '" + shortened(value, most_shown) + "'; allowed: " + allowed +
         "; correct or unset this environment variable";
}

std::vector<std::string> faults_of_variables(std::span<VariableRule const> rules, Lookup const& lookup) {
  std::vector<std::string> faults;
  for (auto const& rule : rules)
    if (char const* const value = lookup(rule.name); value != nullptr && !rule.holds(trimmed(value)))
      faults.push_back(fault_of_variable(rule.name, value, rule.allowed));
  return faults;
}

std::vector<std::string> faults_of_thread_variables(Lookup const& lookup) {
  return faults_of_variables(thread_rules, lookup);
}

std::size_t stack_bytes(Lookup const& lookup) {
  for (char const* name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"})
    if (char const* const value = lookup(name)) return bytes_of(value).value_or(0);
  return 0;
}

}  // namespace bellwether
