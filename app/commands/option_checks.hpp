// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Checks of option values. Their messages say which values are allowed.
namespace bellwether::app {

/// A test of one value of an option.
struct OptionCheck {
  std::function<std::string(std::string const&)> fault;  ///< returns the error message, empty for a valid value
  std::string description;                               ///< follows the type in the help text; may be empty
};

/// Allows decimal integers from `low` to `high`, not octal or hexadecimal ones.
OptionCheck whole_numbers(std::int64_t low, std::int64_t high);
/// Allows numbers from `low` to `high`.
OptionCheck numbers(double low, double high);
/// Allows one of `words`; the message names the nearest.
OptionCheck one_of(std::vector<std::string> const& words);
/// Allows the path of a file or folder. Rejects an unexpanded `~` or `$NAME`, see unexpanded_path().
OptionCheck paths();
/// Allows the values that element_count() parses.
OptionCheck element_counts();

/// Parses a number of elements from 1 to 2^40: digits, optionally followed by Ki, Mi or Gi (2^10, 2^20, 2^30).
/// Returns nullopt if `text` has another form.
std::optional<std::int64_t> element_count(std::string const& text);

/// Returns a value for a message: in quotes, cut to one line.
std::string shown(std::string const& value);

}  // namespace bellwether::app
