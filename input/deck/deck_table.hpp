// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config_visitor.hpp"
#include "input/deck/deck.hpp"
#include "input/deck/deck_keys.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bellwether::input {

/// One key of a deck and its description, as text.
struct KeyRow {
  std::string name, value;  ///< the value as YAML that reads back exactly
  std::string allowed;      ///< "a whole number from 1 to 1024 (steps)"
  std::string help;
  std::string only_with;  ///< condition under which the key applies; usually empty
  bool applies = true;    ///< whether that condition holds for this deck
  bool required = false;
};

struct SectionRows {
  std::string name, help;
  std::vector<KeyRow> keys;
};

/// Visits the sections and keys of a config.
using Describe = std::function<void(ConfigVisitor&)>;

/// Returns every key of a deck with its value, in the order of description. All printed forms of a deck use this table.
std::vector<SectionRows> key_table(Deck deck);
/// The same for any other config with sections.
std::vector<SectionRows> key_table(Describe const& describe);
/// Returns only the names of the sections and keys.
KeyCatalogue key_catalogue(Describe const& describe);

}  // namespace bellwether::input
