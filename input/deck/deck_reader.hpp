// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config_visitor.hpp"
#include "input/deck/deck_keys.hpp"
#include "input/deck/deck_tree.hpp"
#include "input/deck/deck_values.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bellwether::input {

/// One `--set section.key=value`.
struct Override {
  std::string written;  ///< as on the command line, without --set
  std::string key;      ///< "section.key"
  TreeNode value;
  int index = 0;
  bool faulty = false;  ///< the value could not be read; the fault is already reported
};

/// Where a value comes from: the deck, an override, or the default (neither).
struct Origin {
  Place place;
  int override_index = -1;
};
using Origins = std::map<std::string, Origin, std::less<>>;

/// The texts of keys that name files or folders, as the deck or the override writes them.
using WrittenPaths = std::map<std::string, std::vector<TreeNode>, std::less<>>;

/// A key of the deck that an override made inapplicable, and the condition under which it applies: "method: lamb".
struct DroppedKey {
  std::string key, only_with;
};

/// Builds a fault: `deck.yaml:12:5: what`, or only `what` if `place` has no line, or `--set a.b=c: what`.
Fault document_fault(std::string const& name, Place place, std::string const& what);
Fault override_fault(Override const& which, std::string const& what);

/// Reads a deck into the configs that describe themselves to it. The override of a key is read after the deck's value.
class DeckReader : public ConfigVisitor {
 public:
  /// `report_deck`: report faults of the deck itself; set only for the first of the two readers when there are
  /// overrides. The second reader applies the overrides and drops a deck key that an override made inapplicable,
  /// instead of reporting it.
  /// `report_missing`: report required keys that are missing.
  DeckReader(std::string deck_name, TreeNode const& root, std::vector<Override> const& overrides, bool report_deck,
             bool report_missing);

  void section(std::string_view name, std::string_view help,
               std::function<void(ConfigVisitor&)> const& describe) override;
  void field(Field const& field, bool& value) override;
  void field(Field const& field, std::int64_t& value) override;
  void field(Field const& field, double& value) override;
  void field(Field const& field, std::string& value) override;
  void field(Field const& field, std::vector<std::string>& value) override;
  void field(Field const& field, std::optional<std::int64_t>& value) override;
  void field(Field const& field, std::optional<double>& value) override;
  void field(Field const& field, std::optional<std::chrono::seconds>& value) override;
  void choice(Field const& field, std::vector<std::string_view> const& names, int& value) override;
  using ConfigVisitor::choice;

  /// Call after the last section: reports unknown sections and overrides of unknown keys.
  void finish(KeyCatalogue const& catalogue);

  std::vector<Fault>& faults() { return faults_; }
  Origins const& origins() const { return origins_; }
  WrittenPaths const& paths() const { return paths_; }
  /// Returns the keys of the deck, other than defaults, that were dropped: see `report_deck` of the constructor.
  std::vector<DroppedKey> const& dropped() const { return dropped_; }
  /// Returns the keys whose value could not be read. Checks that involve several keys skip them.
  std::set<std::string, std::less<>> const& broken() const { return broken_; }

 private:
  template <class Value, class Read>
  void read(Field const& field, std::string const& allowed, Value& value, Read const& read_node);
  template <class Value>
  void read_one(Field const& field, ValueType type, Value& value);
  void enter_group(Field const& first, std::string_view name);
  /// Reports unknown and repeated keys of a map. `change`: the override that holds the map, or nullptr.
  void check_key_names(TreeNode const& map, std::string const& path, std::vector<std::string> const& known,
                       KeyCatalogue const& catalogue, Override const* change = nullptr);
  void check_section(TreeNode const& map, std::string const& section, std::vector<std::string> const& keys,
                     KeyCatalogue const& catalogue);
  void check_override(Override const& change, KeyCatalogue const& catalogue);
  void add(Place place, std::string const& what);
  /// Adds a fault of the override `change`, or of the deck if it is nullptr.
  void add(Override const* change, Place place, std::string const& what);

  /// The group that is being read. Its map comes from the deck, or from an override of the whole group.
  struct Group {
    std::string name;
    TreeNode const* map = nullptr;
    Override const* change = nullptr;
    bool applies = true;
    bool broken = false;
    std::string only_with;
  };

  std::string deck_name_;
  TreeNode const& root_;
  std::vector<Override> const& overrides_;
  bool report_deck_;
  bool report_missing_;
  TreeNode const* here_ = nullptr;  // map of the current section, nullptr if the deck does not have it
  Place section_place_;
  std::string path_;
  Group group_;
  std::vector<Fault> faults_;
  Origins origins_;
  WrittenPaths paths_;
  std::vector<DroppedKey> dropped_;
  std::set<std::string, std::less<>> broken_;
  bool choice_broken_ = false;  // a choice could not be read, so it is unknown which other keys apply
};

}  // namespace bellwether::input
