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

/// A deck and what it was made from, equal on all ranks.
struct SharedDeck {
  input::DeckSource source;
  input::Deck deck;
};

/// Collective. Rank 0 reads the file and its own command line and hands both to all ranks; every rank parses them and
/// looks for the files the deck names, where `paths` says so.
/// \throws CommonError on all ranks with rank 0's faults, else with those of the lowest rank that has any.
SharedDeck read_shared_deck(comm::RankGroup& group, std::string const& path, std::vector<std::string> const& overrides,
                            input::DeckPaths paths = input::DeckPaths::checked);

/// Runs `work`; faults of a CommonError that name a key of the deck get its place there.
void with_places(input::DeckSource const& source, std::function<void()> const& work);

/// Something that ranks must agree on before they train together.
struct StartFact {
  std::string name, value;
};

/// Program version, build options and the layout's fingerprint.
std::vector<StartFact> start_facts(std::uint64_t layout_fingerprint);

/// Collective. \throws CommonError on all ranks, naming the lowest rank whose facts are not rank 0's, and the facts.
void require_equal_start(comm::RankGroup& group, std::vector<StartFact> const& facts);

}  // namespace bellwether::app
