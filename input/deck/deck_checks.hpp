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

/// Reports a fault as "key: what", at the place that sets the key's value. Called only for keys that the deck or the
/// command line can set.
using Complain = std::function<void(std::string const& key, std::string const& what)>;

/// Reports paths that only a shell would expand, and adds their keys to `reading.broken`: later checks skip these
/// paths.
void check_written_paths(DeckReading& reading, DeckSource const& source, Complain const& complain);

/// Makes the paths of a deck absolute.
void resolve_paths(Deck& deck, DeckSource const& source, Origins const& origins);

/// Reports keys that contradict each other. Skips keys whose value could not be read.
void check_keys(Deck const& deck, Origins const& origins, std::set<std::string, std::less<>> const& broken,
                Complain const& complain);

/// Checks the files and folders that the deck names: they exist, folders hold HDF5 files, and no file is in both
/// data.train and data.heldout, even under another name. Skips keys whose value could not be read.
void check_paths(Deck const& deck, std::set<std::string, std::less<>> const& broken, Complain const& complain);

}  // namespace bellwether::input
