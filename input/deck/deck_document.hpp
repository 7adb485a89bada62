// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck.hpp"
#include "input/deck/deck_reader.hpp"

namespace bellwether::input {

/// The result of reading all keys one by one, before they are checked against each other.
struct DeckReading {
  Deck deck;
  Origins origins;  ///< of the keys that the deck or an override sets
  WrittenPaths paths;
  std::vector<DroppedKey> dropped;
  std::vector<Fault> faults;
  std::vector<Override> overrides;
  std::set<std::string, std::less<>> broken;  ///< keys whose value could not be read
  bool whole = true;  ///< false: the text is not valid YAML, so a missing key may be in the part that was not read
};
DeckReading read_keys(DeckSource const& source);

/// Throws the faults, if there are any, in the order of their places, with overrides last. \throws InputError
void throw_faults(std::vector<Fault> faults);

}  // namespace bellwether::input
