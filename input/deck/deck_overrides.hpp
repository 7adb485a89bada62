// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// Reads the value of `--set section.key=value`. One that begins with [, {, ' or " is YAML, all of it; every other
/// value is one scalar, whatever signs of YAML it holds: `run #2`, `a: b`, `*x`. An empty value is nothing.
/// Faults go to `faults`: a part of the YAML that would be lost, as behind the # of a comment, and line breaks.
TreeNode parse_override_value(std::string_view written, std::vector<SyntaxFault>& faults);

/// Splits `section.key=value` and reads the values. What is malformed is told in `faults` and left out.
std::vector<Override> parse_overrides(std::vector<std::string> const& written, std::vector<Fault>& faults);

}  // namespace bellwether::input
