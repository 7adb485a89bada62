// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck_checks.hpp"

#include <string>
#include <vector>

namespace bellwether::input {

/// Checks one list of shards, the value of `key`. Reports entries that do not exist, folders without shards, and files
/// or folders that two entries or names refer to.
void check_shards(std::string const& key, std::vector<std::string> const& entries, Complain const& complain);

/// Reports each entry of data.heldout that contains a file of data.train, even under another name, and names the first
/// such file. The held-out loss must not include sequences that are trained on.
void check_apart(DataConfig const& data, Complain const& complain);

/// Reports a run.directory that the run shares with the shards of a list, the value of `key`. A run writes HDF5 files
/// to its directory and to two folders in it. The next job would read them as shards, so no run could use the shards.
void check_run_apart(std::string const& directory, std::string const& key, std::vector<std::string> const& entries,
                     Complain const& complain);

}  // namespace bellwether::input
