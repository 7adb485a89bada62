// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/deck_changes.hpp"

#include "input/deck/deck_keys.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <sstream>

namespace bellwether::app {
namespace {

constexpr auto unused = "unused";

/// Removes a comment at the end of the line. A '#' in quotes belongs to the value.
std::string without_comment(std::string const& text) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < text.size() && (quoted || text[end] != '#'); ++end) {
    if (text[end] == '"') quoted = !quoted;
    if (quoted && text[end] == '\\') ++end;
  }
  auto const last = text.find_last_not_of(' ', std::min(end, text.size()) - 1);
  return end == 0 || last == std::string::npos ? "" : text.substr(0, last + 1);
}

/// Returns the value's text for each "section.key". Lines are those of a resolved deck: `section:`, or two spaces and
/// `key: value`, or two spaces and `group:` followed by four spaces and `key: value`.
std::map<std::string, std::string> values_in(std::string const& resolved) {
  std::map<std::string, std::string> values;
  std::istringstream lines(resolved);
  std::string section, group;
  for (std::string line; std::getline(lines, line);) {
    auto const text = without_comment(line);
    auto const colon = text.find(':');
    if (colon == std::string::npos) continue;
    auto const depth = text.find_first_not_of(' ');
    auto name = text.substr(depth, colon - depth);
    if (auto const today = input::renamed_key(name); !today.empty()) name = today;  // a name from an earlier version
    if (depth == 0)
      section = name;
    else if (colon + 1 == text.size())
      group = name;
    else
      values[section + "." + (depth > 2 ? group + "." : "") + name] = text.substr(std::min(colon + 2, text.size()));
  }
  return values;
}

}  // namespace

std::vector<DeckChange> deck_changes(std::string const& before, std::string const& now) {
  auto const old_values = values_in(before), new_values = values_in(now);
  std::set<std::string> keys;
  for (auto const* values : {&old_values, &new_values})
    for (auto const& [key, value] : *values) keys.insert(key);
  for (auto const* const of_job : {"run.directory", "run.walltime"}) keys.erase(of_job);
  auto const value_of = [](auto const& values, std::string const& key) {
    auto const found = values.find(key);
    return found == values.end() ? std::string(unused) : found->second;
  };
  std::vector<DeckChange> changes;
  for (auto const& key : keys) {
    auto const was = value_of(old_values, key), is = value_of(new_values, key);
    if (was != is) changes.push_back({key, was, is});
  }
  return changes;
}

std::string changes_text(std::vector<DeckChange> const& changes) {
  std::string text;
  for (auto const& [key, was, is] : changes) text += (text.empty() ? "" : ", ") + key + " " + is + " (was " + was + ")";
  return text;
}

std::vector<std::string> method_faults(std::vector<DeckChange> const& changes, std::string const& checkpoint) {
  auto const found = std::ranges::find(changes, "optimizer.method", &DeckChange::key);
  if (found == changes.end()) return {};
  return {found->key + ": " + found->is + ", but " + checkpoint + " was written with " + found->was +
          ", and a run cannot change its method; allowed: " + found->was};
}

std::vector<std::string> model_faults(std::vector<DeckChange> const& changes, std::string const& checkpoint) {
  std::vector<std::string> faults;
  auto const one_of = [](std::string const& key, std::initializer_list<char const*> keys) {
    return std::ranges::find(keys, key) != keys.end();
  };
  for (auto const& [key, was, is] : changes) {
    bool const size = one_of(key, {"model.vocabulary", "model.hidden", "model.layers", "model.feed_forward",
                                   "model.positions", "model.segments"});
    bool const meaning = one_of(key, {"model.heads", "model.activation", "model.layer_norm_epsilon"});
    if ((!size && !meaning) || was == unused || is == unused) continue;
    faults.push_back(
        key + ": " + is + ", but " + checkpoint + " was written with " + was +
        (size ? ", and its weights have the sizes of that model" : ", and its weights were trained with that value") +
        "; allowed: " + was);
  }
  return faults;
}

std::vector<std::string> fixed_key_faults(std::vector<DeckChange> const& changes,
                                          std::vector<std::string_view> const& fixed, std::string const& checkpoint,
                                          std::int64_t step) {
  std::vector<std::string> faults;
  for (auto const& [key, was, is] : changes) {
    bool const matters =
        std::ranges::any_of(fixed, [&, &key = key](auto name) { return key == "optimizer." + std::string(name); });
    // If another key decides whether this one applies, that other key is at fault.
    if (!matters || was == unused || is == unused) continue;
    faults.push_back(key + ": " + is + ", but " + checkpoint + " was written after the freeze with " + was +
                     ", and the frozen state depends on it; allowed: " + was + ", or optimizer.freeze.step above " +
                     std::to_string(step) + ", which starts a second dense phase");
  }
  return faults;
}

}  // namespace bellwether::app
