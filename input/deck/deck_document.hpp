// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck.hpp"
#include "input/deck/deck_reader.hpp"

namespace bellwether::input {

/// What reading the keys one by one gives, before they are checked together.
struct DeckReading {
  Deck deck;
  Origins origins;  ///< of the keys that do not keep their default
  WrittenPaths paths;
  std::vector<Fault> faults;
  std::vector<Override> overrides;
  std::set<std::string, std::less<>> broken;  ///< keys whose value could not be read
  bool whole = true;  ///< false: the text is no YAML, so what is missing may be in the part that was not read
};
DeckReading read_keys(DeckSource const& source);

/// \throws InputError with the faults in the order of their places, overrides last, where there are any.
void throw_faults(std::vector<Fault> faults);

}  // namespace bellwether::input
