// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_keys.hpp"

#include "input/deck/suggestion.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bellwether::input {
namespace {

/// Names a map that has a key of this name: "section optimizer", "optimizer.freeze", or an empty text.
std::string elsewhere(std::string const& key, KeyCatalogue const& catalogue) {
  for (auto const& [section, keys] : catalogue)
    if (auto const own = entries_of(keys); std::ranges::find(own, key) != own.end()) return "section " + section;
  for (auto const& [section, keys] : catalogue)
    for (auto const& name : keys)
      if (auto const [group, leaf] = split_key(name); !group.empty() && leaf == key)
        return section + "." + std::string(group);
  return {};
}

}  // namespace

KeyName split_key(std::string_view name) {
  auto const dot = name.find('.');
  if (dot == std::string_view::npos) return {{}, name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::vector<std::string> sections_of(KeyCatalogue const& catalogue) {
  std::vector<std::string> names;
  for (auto const& [section, keys] : catalogue) names.push_back(section);
  return names;
}

std::vector<std::string> entries_of(std::vector<std::string> const& keys) {
  std::vector<std::string> names;
  for (auto const& key : keys) {
    auto const [group, leaf] = split_key(key);
    std::string const name(group.empty() ? leaf : group);
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

std::vector<std::string> leaves_of(std::vector<std::string> const& keys, std::string_view group) {
  std::vector<std::string> names;
  for (auto const& key : keys)
    if (auto const name = split_key(key); !name.group.empty() && name.group == group) names.emplace_back(name.leaf);
  return names;
}

std::string_view renamed_key(std::string_view name) {
  using Renamed = std::pair<std::string_view, std::string_view>;
  static constexpr std::array renamed{Renamed{"look_ahead", "step_ahead"}, Renamed{"kept_variance", "frozen_variance"}};
  auto const found = std::ranges::find(renamed, name, &Renamed::first);
  return found == renamed.end() ? std::string_view() : found->second;
}

std::string unknown_key(std::string const& key, std::vector<std::string> const& known, KeyCatalogue const& catalogue) {
  if (auto const today = renamed_key(key); !today.empty() && std::ranges::find(known, today) != known.end())
    return "renamed to '" + std::string(today) + "'; write '" + std::string(today) + "', its values are the same";
  std::string hint;
  auto const [group, leaf] = split_key(key);
  bool const written_flat =
      std::ranges::find(known, group) != known.end() && std::ranges::any_of(catalogue, [&](auto const& section) {
        return std::ranges::find(section.second, key) != section.second.end();
      });
  if (written_flat)
    hint = " (a map in the deck: '" + std::string(group) + ": {" + std::string(leaf) + ": ...}')";
  else if (auto const near = did_you_mean(key, known); !near.empty())
    hint = near;
  else if (auto const near_group = did_you_mean(group, known); !group.empty() && !near_group.empty())
    hint = near_group;
  else if (auto const place = elsewhere(group.empty() ? key : std::string(group), catalogue); !place.empty())
    hint = " (" + place + " has this key)";
  return "unknown key" + hint + "; one of " + joined(known);
}

}  // namespace bellwether::input
