// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bellwether::input {

/// A key's name inside its section. `freeze.step` is the key `step` of the group `freeze`. A deck writes the group as a
/// nested map, `freeze: {step: 200}`, or as `freeze: auto` for a map that sets nothing. A group applies if its first
/// key applies.
struct KeyName {
  std::string_view group;  ///< empty if the key is directly in the section
  std::string_view leaf;
};
KeyName split_key(std::string_view name);

/// Sections and their keys, in order; used for "did you mean" and to name the section that a key belongs to.
using KeyCatalogue = std::vector<std::pair<std::string, std::vector<std::string>>>;

std::vector<std::string> sections_of(KeyCatalogue const& catalogue);
/// Returns the names that a section's map may hold: its direct keys and its groups, each once, in order.
std::vector<std::string> entries_of(std::vector<std::string> const& keys);
/// Returns the names that the group's map may hold; empty if no key belongs to the group.
std::vector<std::string> leaves_of(std::vector<std::string> const& keys, std::string_view group);

/// Returns the current name of a key that an earlier version called `name`; empty if no key was renamed from it.
std::string_view renamed_key(std::string_view name);

/// Returns "unknown key (did you mean 'lr'?); one of ...". If no known name is similar, it names the section that has
/// such a key.
std::string unknown_key(std::string const& key, std::vector<std::string> const& known, KeyCatalogue const& catalogue);

}  // namespace bellwether::input
