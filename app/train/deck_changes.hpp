// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::app {

/// A key whose value in the resumed run differs from that in the run that wrote the checkpoint. A key that does not
/// apply has the value `unused`.
struct DeckChange {
  std::string key, was, is;
};

/// Compares two texts of input::resolved_deck() and returns the changes in the order of keys. Ignores run.directory and
/// run.walltime, which may change between jobs.
std::vector<DeckChange> deck_changes(std::string const& before, std::string const& now);
/// Returns `optimizer.lr 0.01 (was 0.02), run.seed 4 (was 3)`; empty without changes.
std::string changes_text(std::vector<DeckChange> const& changes);
/// Returns a fault if the resumed run changes optimizer.method, whose state the checkpoint does not hold.
std::vector<std::string> method_faults(std::vector<DeckChange> const& changes, std::string const& checkpoint);
/// Returns faults for changed keys of the model: its sizes, or its heads, activation or epsilon.
std::vector<std::string> model_faults(std::vector<DeckChange> const& changes, std::string const& checkpoint);
/// Returns faults for changed optimizer keys listed in `fixed`. For a checkpoint written after the freeze. checkpoint:
/// its path. step: its step.
std::vector<std::string> fixed_key_faults(std::vector<DeckChange> const& changes,
                                          std::vector<std::string_view> const& fixed, std::string const& checkpoint,
                                          std::int64_t step);

}  // namespace bellwether::app
