// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config_visitor.hpp"
#include "input/deck/deck_tree.hpp"

#include <string>
#include <vector>

namespace bellwether::input {

enum class ValueType { truth, whole, real, text, texts, optional_whole, optional_real, optional_duration };

/// What a key takes, in words: "a whole number from 1 to 1024 (steps)".
std::string allowed_values(Field const& field, ValueType type);
std::string allowed_choices(std::vector<std::string_view> const& names);

/// Converts a node strictly. Returns the fault, "what; what is allowed", or nothing where `value` was set.
///   truth   true or false, unquoted: yes, on, 1 mean different things to different readers of YAML
///   whole   decimal digits without a leading zero (octal to some readers), or 1e5 where the value is exactly whole
///   real    decimal, finite, unquoted
///   texts   a list, or one text for a list of one
///   duration  as duration_of() takes it; quoted or not, since some readers of YAML take 3:50:00 for a number
std::string read_value(Field const& field, TreeNode const& node, bool& value);
std::string read_value(Field const& field, TreeNode const& node, std::int64_t& value);
std::string read_value(Field const& field, TreeNode const& node, double& value);
std::string read_value(Field const& field, TreeNode const& node, std::string& value);
std::string read_value(Field const& field, TreeNode const& node, std::vector<std::string>& value);
std::string read_value(Field const& field, TreeNode const& node, std::optional<std::int64_t>& value);
std::string read_value(Field const& field, TreeNode const& node, std::optional<double>& value);
std::string read_value(Field const& field, TreeNode const& node, std::optional<std::chrono::seconds>& value);
std::string read_choice(TreeNode const& node, std::vector<std::string_view> const& names, int& value);
/// The word for a map in which nothing is set, `auto`; `keys` are what such a map may hold. Returns the fault or
/// nothing.
std::string read_group_word(TreeNode const& node, std::vector<std::string> const& keys);

/// The shortest decimal that reads back as the same double.
std::string shortest_number(double value);

}  // namespace bellwether::input
