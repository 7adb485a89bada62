// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck.hpp"
#include "input/deck/deck_document.hpp"
#include "input/deck/deck_reader.hpp"

#include <functional>
#include <set>
#include <string>

namespace bellwether::input {

/// Told as "key: what", at the place that decides the key's value, and only where deck or command line decide it.
using Complain = std::function<void(std::string const& key, std::string const& what)>;

/// Paths that only a shell would expand. Their keys are added to `reading.broken`: what these paths lead to is not
/// looked at.
void check_written_paths(DeckReading& reading, DeckSource const& source, Complain const& complain);

/// Makes the paths of a deck absolute.
void resolve_paths(Deck& deck, DeckSource const& source, Origins const& origins);

/// Keys that contradict each other, where both could be read.
void check_keys(Deck const& deck, Origins const& origins, std::set<std::string, std::less<>> const& broken,
                Complain const& complain);

/// Files and folders that the deck names: they exist, folders hold HDF5 files, no file is both trained on and held out,
/// whatever path leads to it. Keys that could not be read are left out.
void check_paths(Deck const& deck, std::set<std::string, std::less<>> const& broken, Complain const& complain);

}  // namespace bellwether::input
