// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config_visitor.hpp"
#include "input/deck/deck_tree.hpp"

#include <string>
#include <vector>

namespace bellwether::input {

enum class ValueType { truth, whole, real, text, texts, optional_whole, optional_real, optional_duration };

/// Returns the allowed values of a key as text: "a whole number from 1 to 1024 (steps)".
std::string allowed_values(Field const& field, ValueType type);
std::string allowed_choices(std::vector<std::string_view> const& names);

/// Converts a node strictly. Returns the fault as "what; what is allowed", or an empty text if `value` was set.
///   truth   true or false, unquoted: YAML readers differ on yes, on and 1
///   whole   decimal digits without a leading zero (octal to some readers), or 1e5 if the value is exactly whole
///   real    decimal, finite, unquoted
///   texts   a list, or a single text, which becomes a list of one
///   duration  the format of duration_of(), quoted or not, since some YAML readers take 3:50:00 for a number
std::string read_value(Field const& field, TreeNode const& node, bool& value);
std::string read_value(Field const& field, TreeNode const& node, std::int64_t& value);
std::string read_value(Field const& field, TreeNode const& node, double& value);
std::string read_value(Field const& field, TreeNode const& node, std::string& value);
std::string read_value(Field const& field, TreeNode const& node, std::vector<std::string>& value);
std::string read_value(Field const& field, TreeNode const& node, std::optional<std::int64_t>& value);
std::string read_value(Field const& field, TreeNode const& node, std::optional<double>& value);
std::string read_value(Field const& field, TreeNode const& node, std::optional<std::chrono::seconds>& value);
std::string read_choice(TreeNode const& node, std::vector<std::string_view> const& names, int& value);
/// Reads the word `auto`, which stands for a map that sets nothing. `keys`: the names that such a map may hold. Returns
/// the fault, or an empty text.
std::string read_group_word(TreeNode const& node, std::vector<std::string> const& keys);

/// Returns the shortest decimal that reads back as the same double.
std::string shortest_number(double value);

}  // namespace bellwether::input
