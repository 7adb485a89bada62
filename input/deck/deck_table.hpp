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

/// One key of a deck, in words.
struct KeyRow {
  std::string name, value;  ///< the value as YAML that reads back exactly
  std::string allowed;      ///< "a whole number from 1 to 1024 (steps)"
  std::string help;
  std::string only_with;  ///< what must hold for the key to mean anything; mostly empty
  bool applies = true;    ///< it holds for this deck
  bool required = false;
};

struct SectionRows {
  std::string name, help;
  std::vector<KeyRow> keys;
};

/// Names the keys of a file of sections.
using Describe = std::function<void(ConfigVisitor&)>;

/// Every key of a deck with its value, in the order of description: what is printed about decks is printed from here.
std::vector<SectionRows> key_table(Deck deck);
/// The same of another file of sections.
std::vector<SectionRows> key_table(Describe const& describe);
/// Names alone.
KeyCatalogue key_catalogue(Describe const& describe);

}  // namespace bellwether::input
