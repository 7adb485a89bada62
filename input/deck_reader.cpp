// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck_reader.hpp"

#include "core/error.hpp"
#include "input/deck_values.hpp"
#include "input/suggestion.hpp"

#include <algorithm>

namespace bellwether::input {
namespace {

std::string joined(std::vector<std::string> const& words) {
  std::string text;
  for (auto const& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// A path or a parser's message may hold line breaks: a fault is one line.
std::string on_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  return text;
}

/// A name from a deck for a message: on one line, and not longer than a name may be.
std::string printable(std::string const& name) {
  std::string text = name.substr(0, 64);
  while (!text.empty() && text.size() < name.size() && (static_cast<unsigned char>(name[text.size()]) & 0xC0) == 0x80)
    text.pop_back();
  text = on_one_line(std::move(text));
  return text.size() < name.size() ? text + "..." : text;
}

/// "unknown key (did you mean 'lr'?); one of ..." with the section that has such a key where there is one.
std::string unknown_key(std::string const& key, std::vector<std::string> const& known, KeyCatalogue const& catalogue) {
  auto const near = nearest_word(key, known);
  std::string hint = near.empty() ? "" : " (did you mean '" + near + "'?)";
  if (near.empty())
    for (auto const& [section, keys] : catalogue)
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) hint = " (section " + section + " has one)";
  return "unknown key" + hint + "; one of " + joined(known);
}

std::vector<std::string> sections_of(KeyCatalogue const& catalogue) {
  std::vector<std::string> names;
  for (auto const& [section, keys] : catalogue) names.push_back(section);
  return names;
}

}  // namespace

Fault deck_fault(std::string const& deck_name, Place place, std::string const& what) {
  return {place, -1,
          deck_name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + on_one_line(what)};
}

Fault override_fault(Override const& which, std::string const& what) {
  return {{}, which.index, "--set " + printable(which.written) + ": " + on_one_line(what)};
}

DeckReader::DeckReader(std::string deck_name, TreeNode const& root, std::vector<Override> const& overrides,
                       bool judge_deck, bool judge_missing)
    : deck_name_(std::move(deck_name)),
      root_(root),
      overrides_(overrides),
      judge_deck_(judge_deck),
      judge_missing_(judge_missing) {}

void DeckReader::add(Place place, std::string const& what) { faults_.push_back(deck_fault(deck_name_, place, what)); }

void DeckReader::section(std::string_view name, std::string_view, std::function<void(ConfigVisitor&)> const& describe) {
  require(path_.empty(), "sections of a deck do not nest");
  path_ = name;
  auto const* entry = root_.find(name);
  section_place_ = entry ? entry->place : Place{1, 1};
  here_ = entry && entry->value.kind == TreeNode::Kind::map ? &entry->value : nullptr;
  if (entry && judge_deck_ && !here_ && entry->value.kind != TreeNode::Kind::null)
    add(entry->value.place, path_ + ": not a section; keys with values, one a line, indented");
  describe(*this);
  path_.clear();
}

template <class Read>
void DeckReader::read(Field const& field, std::string const& allowed, Read const& read_node) {
  require(!path_.empty(), "every key of a deck is in a section");
  std::string const key = path_ + "." + std::string(field.name);
  bool given = false;
  if (auto const* entry = here_ ? here_->find(field.name) : nullptr) {
    given = true;
    if (!field.applies) {
      if (judge_deck_) add(entry->place, key + ": has no meaning here; only with " + std::string(field.only_with));
    } else {
      auto const what = read_node(entry->value);
      if (!what.empty()) broken_.insert(key);
      if (!what.empty() && judge_deck_) add(entry->value.place, key + ": " + what);
      origins_[key] = {entry->value.place, -1};
    }
  }
  for (auto const& change : overrides_) {
    if (change.key != key) continue;
    given = true;
    if (!field.applies) {
      faults_.push_back(override_fault(change, "has no meaning here; only with " + std::string(field.only_with)));
      continue;
    }
    broken_.erase(key);
    if (auto const what = read_node(change.value); !what.empty()) {
      broken_.insert(key);
      faults_.push_back(override_fault(change, what));
    }
    origins_[key] = {{}, change.index};
  }
  if (field.required && field.applies && !given && judge_missing_) add(section_place_, key + ": missing; " + allowed);
}

void DeckReader::field(Field const& f, bool& value) {
  read(f, allowed_values(f, ValueType::truth), [&](TreeNode const& node) { return read_value(f, node, value); });
}
void DeckReader::field(Field const& f, std::int64_t& value) {
  read(f, allowed_values(f, ValueType::whole), [&](TreeNode const& node) { return read_value(f, node, value); });
}
void DeckReader::field(Field const& f, double& value) {
  read(f, allowed_values(f, ValueType::real), [&](TreeNode const& node) { return read_value(f, node, value); });
}
void DeckReader::field(Field const& f, std::string& value) {
  read(f, allowed_values(f, ValueType::text), [&](TreeNode const& node) { return read_value(f, node, value); });
}
void DeckReader::field(Field const& f, std::vector<std::string>& value) {
  read(f, allowed_values(f, ValueType::texts), [&](TreeNode const& node) { return read_value(f, node, value); });
}
void DeckReader::field(Field const& f, std::optional<std::int64_t>& value) {
  read(f, allowed_values(f, ValueType::optional_whole),
       [&](TreeNode const& node) { return read_value(f, node, value); });
}
void DeckReader::field(Field const& f, std::optional<double>& value) {
  read(f, allowed_values(f, ValueType::optional_real),
       [&](TreeNode const& node) { return read_value(f, node, value); });
}
void DeckReader::choice(Field const& f, std::vector<std::string_view> const& names, int& value) {
  read(f, allowed_choices(names), [&](TreeNode const& node) { return read_choice(node, names, value); });
}

void DeckReader::judge_keys(TreeNode const& map, std::string const& path, std::vector<std::string> const& known,
                            KeyCatalogue const& catalogue) {
  std::map<std::string_view, int> first_lines;
  for (auto const& entry : map.entries) {
    auto const [first, is_new] = first_lines.emplace(entry.key, entry.place.line);
    std::string const name = path + printable(entry.key);
    if (!is_new) {
      add(entry.place, name + ": given again; once a deck (line " + std::to_string(first->second) + ")");
    } else if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      add(entry.place, name + ": " + unknown_key(entry.key, known, catalogue));
    }
  }
}

void DeckReader::finish(KeyCatalogue const& catalogue) {
  if (judge_deck_) {
    judge_keys(root_, "", sections_of(catalogue), catalogue);
    for (auto const& [section, keys] : catalogue)
      if (auto const* entry = root_.find(section)) judge_keys(entry->value, section + ".", keys, catalogue);
    if (root_.kind == TreeNode::Kind::scalar || root_.kind == TreeNode::Kind::sequence)
      add(root_.place, "not a deck; sections " + joined(sections_of(catalogue)));
  }
  std::map<std::string_view, Override const*> seen;
  for (auto const& change : overrides_) {
    if (auto const [first, is_new] = seen.emplace(change.key, &change); !is_new) {
      faults_.push_back(override_fault(change, "given again; once a command (--set " + first->second->written + ")"));
      continue;
    }
    auto const dot = change.key.find('.');
    auto const section = std::find_if(catalogue.begin(), catalogue.end(), [&](auto const& one) {
      return one.first == std::string_view(change.key).substr(0, dot);
    });
    if (section == catalogue.end()) {
      auto const names = sections_of(catalogue);
      auto const near = nearest_word(change.key.substr(0, dot), names);
      faults_.push_back(override_fault(
          change,
          "unknown section" + (near.empty() ? "" : " (did you mean '" + near + "'?)") + "; one of " + joined(names)));
    } else if (auto const key = change.key.substr(dot + 1);
               std::find(section->second.begin(), section->second.end(), key) == section->second.end()) {
      faults_.push_back(override_fault(change, unknown_key(key, section->second, catalogue)));
    }
  }
}

}  // namespace bellwether::input
