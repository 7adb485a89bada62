// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What the values of options may be. The messages say what is allowed.
namespace bellwether::app {

/// A test of one value of an option.
struct OptionCheck {
  std::function<std::string(std::string const&)> fault;  ///< what is wrong with the value; empty: nothing
  std::string description;                               ///< what the help text says behind the type; may be empty
};

/// Whole numbers from `low` to `high`: decimal digits only, neither octal nor hexadecimal ones.
OptionCheck whole_numbers(std::int64_t low, std::int64_t high);
/// Numbers from `low` to `high`.
OptionCheck numbers(double low, double high);
/// One of `words`; the fault names the nearest.
OptionCheck one_of(std::vector<std::string> const& words);
/// A file or folder: refused where a shell should have expanded `~` or `$NAME` in it, as unexpanded_path() has it.
OptionCheck paths();
/// What element_count() reads.
OptionCheck element_counts();

/// A count of elements, digits with Ki, Mi or Gi (2^10, 2^20, 2^30) behind them or nothing, from 1 to 2^40.
/// Returns nothing where `text` is none.
std::optional<std::int64_t> element_count(std::string const& text);

/// A value for a message: in quotes, not longer than a line.
std::string shown(std::string const& value);

}  // namespace bellwether::app
