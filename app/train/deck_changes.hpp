// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::app {

/// A key that a resumed run is told otherwise than the run that wrote its checkpoint. One that does not apply has the
/// value `unused`.
struct DeckChange {
  std::string key, was, is;
};

/// In the order of keys. Both are texts of input::resolved_deck(). run.directory is left out: a run may be moved.
std::vector<DeckChange> deck_changes(std::string const& before, std::string const& now);
/// `optimizer.lr 0.01 (was 0.02), run.seed 4 (was 3)`; empty where nothing has changed.
std::string changes_text(std::vector<DeckChange> const& changes);
/// Of a resume with another optimizer.method, whose state is not the checkpoint's; none where it is the same.
std::vector<std::string> method_faults(std::vector<DeckChange> const& changes, std::string const& checkpoint);
/// Of a resume with another model: one of other sizes, or with the same weights and other heads, activation or epsilon.
std::vector<std::string> model_faults(std::vector<DeckChange> const& changes, std::string const& checkpoint);
/// Faults of a resume after the freeze, from a checkpoint of this path and step, that changes any of the optimizer's
/// keys `fixed`.
std::vector<std::string> fixed_key_faults(std::vector<DeckChange> const& changes,
                                          std::vector<std::string_view> const& fixed, std::string const& checkpoint,
                                          std::int64_t step);

}  // namespace bellwether::app
