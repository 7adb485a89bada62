// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/deck_reader.hpp"

#include "core/system/error.hpp"
#include "input/deck/deck_characters.hpp"
#include "input/deck/deck_syntax.hpp"
#include "input/deck/suggestion.hpp"
#include "input/files/written_path.hpp"

#include <algorithm>

namespace bellwether::input {
namespace {

/// Formats a name from a deck for a message: on one line and shortened to 64 bytes.
std::string printable(std::string const& name) {
  std::string text = name.substr(0, 64);
  while (!text.empty() && text.size() < name.size() && (static_cast<unsigned char>(name[text.size()]) & 0xC0) == 0x80)
    text.pop_back();
  return with_codes(text) + (text.size() < name.size() ? "..." : "");
}

/// Names the first odd character of a key or a value as a likely cause; empty if there is none.
std::string odd_note(std::vector<OddPlace> const& odd, bool in_override) {
  return odd.empty() ? "" : "; it holds " + described(odd.front(), in_override);
}

/// Explains a scalar of the deck that stands in place of a map, as far as a slip is known; empty if none is.
std::string scalar_note(TreeNode const& value) {
  if (!value.odd.empty()) return odd_note(value.odd, false);  // an odd blank after a colon is named, not called missing
  bool const plain = value.kind == TreeNode::Kind::scalar && !value.quoted;
  return plain ? missing_blank_hint(value.text, value.place) : "";
}

}  // namespace

Fault document_fault(std::string const& name, Place place, std::string const& what) {
  if (place.line == 0) return {place, -1, with_codes(what)};
  return {place, -1,
          name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + with_codes(what)};
}

Fault override_fault(Override const& which, std::string const& what) {
  return {{}, which.index, "--set " + printable(which.written) + ": " + with_codes(what)};
}

DeckReader::DeckReader(std::string deck_name, TreeNode const& root, std::vector<Override> const& overrides,
                       bool report_deck, bool report_missing)
    : deck_name_(std::move(deck_name)),
      root_(root),
      overrides_(overrides),
      report_deck_(report_deck),
      report_missing_(report_missing) {}

void DeckReader::add(Place place, std::string const& what) {
  faults_.push_back(document_fault(deck_name_, place, what));
}

void DeckReader::add(Override const* change, Place place, std::string const& what) {
  faults_.push_back(change ? override_fault(*change, what) : document_fault(deck_name_, place, what));
}

void DeckReader::section(std::string_view name, std::string_view, std::function<void(ConfigVisitor&)> const& describe) {
  require(path_.empty(), "sections do not nest");
  path_ = name;
  auto const* entry = root_.find(name);
  section_place_ = entry ? entry->place : Place{1, 1};
  here_ = entry && entry->value.kind == TreeNode::Kind::map ? &entry->value : nullptr;
  if (entry && report_deck_ && !here_ && entry->value.kind != TreeNode::Kind::null)
    add(entry->value.place,
        path_ + ": not a section; allowed: keys with values, one per line, indented" + scalar_note(entry->value));
  describe(*this);
  path_.clear();
  group_ = {};
}

void DeckReader::enter_group(Field const& first, std::string_view name) {
  group_ = {.name = std::string(name), .applies = first.applies, .only_with = std::string(first.only_with)};
  std::string const key = path_ + "." + group_.name;
  auto const* entry = here_ ? here_->find(name) : nullptr;
  TreeNode const* value = entry ? &entry->value : nullptr;
  for (auto const& change : overrides_)
    if (change.key == key) {
      group_.change = &change;
      value = &change.value;
    }
  if (!value) return;
  bool const reported = group_.change || report_deck_;
  std::string const subject = group_.change ? "" : key + ": ";
  if (group_.change && group_.change->faulty) {
    group_.broken = true;
  } else if (!group_.applies) {
    if (reported && !choice_broken_)
      add(group_.change, entry ? entry->place : Place{},
          subject + "does not apply here; only with " + group_.only_with);
    if (!reported && !choice_broken_) dropped_.push_back({key, group_.only_with});
  } else if (value->kind == TreeNode::Kind::map) {
    group_.map = value;
  } else if (!read_group_word(*value, {}).empty()) {
    group_.broken = true;  // finish() reports it, because only there the names of the keys are known
  } else {
    // `auto` leaves the first key unset; that key decides whether the others apply.
    origins_[path_ + "." + std::string(first.name)] =
        group_.change ? Origin{{}, group_.change->index} : Origin{value->place, -1};
  }
}

template <class Value, class Read>
void DeckReader::read(Field const& field, std::string const& allowed, Value& value, Read const& read_node) {
  require(!path_.empty(), "every key is in a section");
  std::string const key = path_ + "." + std::string(field.name);
  auto const [group, leaf] = split_key(field.name);
  if (group != group_.name) {
    group_ = {};
    if (!group.empty()) enter_group(field, group);
  }
  bool const applies = field.applies && group_.applies;
  std::string const only_with = group_.applies ? std::string(field.only_with) : group_.only_with;
  std::string const meaningless = "does not apply here; only with " + only_with;
  auto const* map = group.empty() ? here_ : group_.map;
  Override const* const source = group_.change;
  bool const reported = source || report_deck_;
  std::string const subject = source ? std::string(leaf) + ": " : key + ": ";
  // A key that does not apply may still be written with its default.
  auto const harmless = [&](TreeNode const& node) {
    Value said = value;
    return field.default_allowed && read_node(node, said).empty() && said == value;
  };
  bool const path = names_files(key);
  auto const note_paths = [&](TreeNode const& node) {
    if (path) paths_[key] = node.kind == TreeNode::Kind::sequence ? node.items : std::vector{node};
  };
  auto const read_here = [&](TreeNode const& node, Value& into) {
    // YAML reads ~ as null, but a user who writes it as a path means the home folder.
    bool const home = path && !node.quoted && node.text == "~";
    return home ? unexpanded_path("~", "", Tilde::refused) : read_node(node, into);
  };
  bool given = false;
  if (group_.broken) broken_.insert(key);
  if (auto const* entry = map ? map->find(leaf) : nullptr) {
    given = true;
    if (!applies) {
      bool const loses = !choice_broken_ && !harmless(entry->value);
      if (loses && reported) add(source, entry->place, subject + meaningless);
      if (loses && !reported) dropped_.push_back({key, only_with});
    } else {
      auto const what = read_here(entry->value, value);
      if (!what.empty()) broken_.insert(key);
      if (!what.empty() && reported)
        add(source, entry->value.place, subject + what + odd_note(entry->value.odd, source != nullptr));
      note_paths(entry->value);
      origins_[key] = source ? Origin{{}, source->index} : Origin{entry->value.place, -1};
    }
  }
  for (auto const& change : overrides_) {
    if (change.key != key) continue;
    given = true;
    if (change.faulty) {
      broken_.insert(key);
      continue;
    }
    if (!applies) {
      if (!choice_broken_ && !harmless(change.value)) faults_.push_back(override_fault(change, meaningless));
      continue;
    }
    broken_.erase(key);
    note_paths(change.value);
    if (auto const what = read_here(change.value, value); !what.empty()) {
      broken_.insert(key);
      faults_.push_back(override_fault(change, what + odd_note(change.value.odd, true)));
    }
    origins_[key] = {{}, change.index};
  }
  if (field.required && applies && !given && report_missing_)
    add(section_place_, key + ": missing; allowed: " + allowed);
}

template <class Value>
void DeckReader::read_one(Field const& f, ValueType type, Value& value) {
  read(f, allowed_values(f, type), value, [&](TreeNode const& node, Value& into) { return read_value(f, node, into); });
}

void DeckReader::field(Field const& f, bool& value) { read_one(f, ValueType::truth, value); }
void DeckReader::field(Field const& f, std::int64_t& value) { read_one(f, ValueType::whole, value); }
void DeckReader::field(Field const& f, double& value) { read_one(f, ValueType::real, value); }
void DeckReader::field(Field const& f, std::string& value) { read_one(f, ValueType::text, value); }
void DeckReader::field(Field const& f, std::vector<std::string>& value) { read_one(f, ValueType::texts, value); }
void DeckReader::field(Field const& f, std::optional<std::int64_t>& value) {
  read_one(f, ValueType::optional_whole, value);
}
void DeckReader::field(Field const& f, std::optional<double>& value) { read_one(f, ValueType::optional_real, value); }
void DeckReader::field(Field const& f, std::optional<std::chrono::seconds>& value) {
  read_one(f, ValueType::optional_duration, value);
}
void DeckReader::choice(Field const& f, std::vector<std::string_view> const& names, int& value) {
  read(f, allowed_choices(names), value,
       [&](TreeNode const& node, int& into) { return read_choice(node, names, into); });
  choice_broken_ = choice_broken_ || broken_.contains(path_ + "." + std::string(f.name));
}

void DeckReader::check_key_names(TreeNode const& map, std::string const& path, std::vector<std::string> const& known,
                                 KeyCatalogue const& catalogue, Override const* change) {
  std::map<std::string_view, int> first_lines;
  for (auto const& entry : map.entries) {
    auto const [first, is_new] = first_lines.emplace(entry.key, entry.place.line);
    std::string const name = path + printable(entry.key);
    if (!is_new) {
      auto const where =
          change ? "; allowed: once per map" : "; allowed: once per file (line " + std::to_string(first->second) + ")";
      add(change, entry.place, name + ": given again" + where);
    } else if (!entry.odd.empty()) {  // known keys have no odd characters
      add(change, entry.place, name + ": holds " + described(entry.odd.front(), change != nullptr));
    } else if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      add(change, entry.place,
          name + ": " + unknown_key(entry.key, known, catalogue) +
              (change ? "" : missing_blank_hint(entry.key, entry.place)));
    }
  }
}

void DeckReader::check_section(TreeNode const& map, std::string const& section, std::vector<std::string> const& keys,
                               KeyCatalogue const& catalogue) {
  auto const entries = entries_of(keys);
  check_key_names(map, section + ".", entries, catalogue);
  for (auto const& name : entries) {
    auto const leaves = leaves_of(keys, name);
    auto const* entry = map.find(name);
    if (leaves.empty() || !entry) continue;
    std::string const path = section + "." + name;
    if (entry->value.kind == TreeNode::Kind::map)
      check_key_names(entry->value, path + ".", leaves, catalogue);
    else if (auto const what = read_group_word(entry->value, leaves); !what.empty())
      add(entry->value.place, path + ": " + what + scalar_note(entry->value));
  }
}

void DeckReader::check_override(Override const& change, KeyCatalogue const& catalogue) {
  if (auto const odd = find_odd(change.key)) {
    faults_.push_back(
        override_fault(change, "the key holds " + character_name(odd->code) + ": " + odd_advice(odd->code)));
    return;
  }
  auto const [section_name, name] = split_key(change.key);
  auto const section =
      std::ranges::find_if(catalogue, [&, wanted = section_name](auto const& one) { return one.first == wanted; });
  if (section == catalogue.end()) {
    auto const names = sections_of(catalogue);
    faults_.push_back(
        override_fault(change, "unknown section" + did_you_mean(section_name, names) + "; one of " + joined(names)));
    return;
  }
  auto const& keys = section->second;
  auto const [group, leaf] = split_key(name);
  auto const entries = entries_of(keys);
  if (auto const leaves = leaves_of(keys, group.empty() ? leaf : group); leaves.empty()) {
    if (std::ranges::find(keys, name) == keys.end())
      faults_.push_back(override_fault(change, unknown_key(std::string(name), entries, catalogue)));
  } else if (!group.empty()) {
    if (std::ranges::find(leaves, leaf) == leaves.end())
      faults_.push_back(override_fault(change, unknown_key(std::string(leaf), leaves, catalogue)));
  } else if (change.faulty) {
    return;
  } else if (change.value.kind == TreeNode::Kind::map) {
    check_key_names(change.value, "", leaves, catalogue, &change);
  } else if (auto const what = read_group_word(change.value, leaves); !what.empty()) {
    faults_.push_back(override_fault(change, what + odd_note(change.value.odd, true)));
  }
}

void DeckReader::finish(KeyCatalogue const& catalogue) {
  if (report_deck_) {
    check_key_names(root_, "", sections_of(catalogue), catalogue);
    for (auto const& [section, keys] : catalogue)
      if (auto const* entry = root_.find(section)) check_section(entry->value, section, keys, catalogue);
    if (root_.kind == TreeNode::Kind::scalar || root_.kind == TreeNode::Kind::sequence)
      add(root_.place, "not a map of sections; allowed: " + joined(sections_of(catalogue)) + scalar_note(root_));
  }
  std::map<std::string_view, Override const*> seen;
  for (auto const& change : overrides_) {
    // Setting a key and its whole group sets the key twice.
    auto const same = std::ranges::find_if(seen, [&](auto const& earlier) {
      std::string_view const a = earlier.first, b = change.key;
      return a == b || a.starts_with(change.key + ".") || b.starts_with(std::string(a) + ".");
    });
    if (same != seen.end()) {
      faults_.push_back(
          override_fault(change, "given again; allowed: once per command (--set " + same->second->written + ")"));
    } else {
      seen.emplace(change.key, &change);
      check_override(change, catalogue);
    }
  }
}

}  // namespace bellwether::input
