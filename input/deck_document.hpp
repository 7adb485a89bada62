// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck.hpp"
#include "input/deck_reader.hpp"

namespace bellwether::input {

/// A deck and where each of its values comes from.
struct DeckDocument {
  Deck deck;
  Origins origins;  ///< without the keys that keep their default
};

/// parse_deck() with the origins.
DeckDocument read_document(DeckSource const& source);

}  // namespace bellwether::input
