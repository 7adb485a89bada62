// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/deck_checks.hpp"

#include <string>
#include <vector>

namespace bellwether::input {

/// Tells of one list of shards, the value of `key`: entries that lead nowhere, folders without shards, and files or
/// folders that two entries or names lead to.
void check_shards(std::string const& key, std::vector<std::string> const& entries, Complain const& complain);

/// Held-out loss says nothing about sequences that are trained on. Tells of each entry of data.heldout the first file
/// that data.train leads to as well, whatever the names.
void check_apart(DataConfig const& data, Complain const& complain);

}  // namespace bellwether::input
