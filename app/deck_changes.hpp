// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::app {

/// What a resumed run is told otherwise than the run that wrote its checkpoint: `optimizer.lr 0.01 (was 0.02), run.seed
/// 4 (was 3)`; empty where nothing is. Both are texts of input::resolved_deck(). A key that does not apply has the
/// value `unused`. run.directory is left out: a run may be moved.
std::string deck_changes(std::string const& before, std::string const& now);

}  // namespace bellwether::app
