// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// Reads the value of `--set section.key=value`. A value that begins with [, {, ' or " is parsed as YAML as a whole.
/// Every other value is one scalar, even if it contains YAML syntax: `run #2`, `a: b`, `*x`. An empty value is null.
/// Adds faults to `faults`: line breaks, and text that YAML would drop, for example after the # of a comment.
TreeNode parse_override_value(std::string_view written, std::vector<SyntaxFault>& faults);

/// Splits each `section.key=value` and reads its value. Malformed overrides are reported in `faults` and left out.
std::vector<Override> parse_overrides(std::vector<std::string> const& written, std::vector<Fault>& faults);

}  // namespace bellwether::input
