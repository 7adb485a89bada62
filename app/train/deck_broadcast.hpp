// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

class Interrupt;

/// A deck and its source, equal on all ranks.
struct SharedDeck {
  input::DeckSource source;
  input::Deck deck;
  int signal = 0;  ///< ended the wait for the deck, which is then empty; 0: none did
};

/// Collective. Rank 0 reads the file and its own command line and broadcasts both. Every rank then parses them. `paths`
/// selects whether the files named by the deck must exist. With `interrupt`, a signal on rank 0 ends its wait for a
/// deck from a pipe or terminal.
///
/// \throws CommonError on all ranks, with the faults of the lowest rank that has any.
SharedDeck read_shared_deck(comm::RankGroup& group, std::string const& path, std::vector<std::string> const& overrides,
                            input::DeckPaths paths = input::DeckPaths::checked, Interrupt const* interrupt = nullptr);

/// Runs `work`. Adds file, line and column to the faults of a CommonError that name a key of the deck.
void with_places(input::DeckSource const& source, std::function<void()> const& work);

/// A property that must be equal on all ranks before training starts.
struct StartFact {
  std::string name, value;
};

/// Returns program version, build options and the layout's fingerprint.
std::vector<StartFact> start_facts(std::uint64_t layout_fingerprint);

/// Collective. \throws CommonError on all ranks if facts differ from rank 0's. It names the facts and the lowest such
/// rank.
void require_equal_start(comm::RankGroup& group, std::vector<StartFact> const& facts);

}  // namespace bellwether::app
