// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bellwether::input {

/// A key's name inside its section. `freeze.step` is the key `step` of the group `freeze`; a deck writes the group as a
/// map of its own, `freeze: {step: 200}`, or as `freeze: auto` for a map in which nothing is set. A group means
/// something where its first key does.
struct KeyName {
  std::string_view group;  ///< empty: the key is the section's own
  std::string_view leaf;
};
KeyName split_key(std::string_view name);

/// Sections and their keys, in order, for "did you mean" and "belongs to section".
using KeyCatalogue = std::vector<std::pair<std::string, std::vector<std::string>>>;

std::vector<std::string> sections_of(KeyCatalogue const& catalogue);
/// What a section's map may hold: keys of its own and groups, each once, in order.
std::vector<std::string> entries_of(std::vector<std::string> const& keys);
/// What the group's map may hold; empty where no key belongs to such a group.
std::vector<std::string> leaves_of(std::vector<std::string> const& keys, std::string_view group);

/// Today's name of a key that an earlier version called `name`; empty where no key was called so.
std::string_view renamed_key(std::string_view name);

/// "unknown key (did you mean 'lr'?); one of ..." with the place that has such a key where nothing known is near.
std::string unknown_key(std::string const& key, std::vector<std::string> const& known, KeyCatalogue const& catalogue);

}  // namespace bellwether::input
