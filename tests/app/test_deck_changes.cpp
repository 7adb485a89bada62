// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck_changes.hpp"
#include "tests/input/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;

namespace {

std::string resolved(DeckFolder const& folder, std::string const& text, std::vector<std::string> overrides = {}) {
  auto const source = folder.with_data(text, std::move(overrides));
  return input::resolved_deck(input::parse_deck(source), source);
}

}  // namespace

TEST_CASE("Changes between two decks are named with both values") {
  DeckFolder const folder;
  auto const before = resolved(folder, "run: {name: 'a \"b # c', seed: 3}\n");
  CHECK(app::deck_changes(before, before).empty());
  // Where a value stands and where the run lies change nothing.
  CHECK(app::deck_changes(
            before, resolved(folder, "\n\nrun: {seed: 4, name: 'a \"b # c', directory: elsewhere}\n", {"run.seed=3"}))
            .empty());
  CHECK(app::deck_changes(before, resolved(folder, "run: {name: 'a \"b # d', seed: 4}\n")) ==
        R"(run.name "a \"b # d" (was "a \"b # c"), run.seed 4 (was 3))");
}

TEST_CASE("A key that came into use is a change") {
  DeckFolder const folder;
  auto const linear = resolved(folder, "schedule: {decay: linear}\n");
  auto const polynomial = resolved(folder, "schedule: {decay: polynomial, power: 0.5}\n");
  CHECK(app::deck_changes(linear, polynomial) ==
        "schedule.decay polynomial (was linear), schedule.power 0.5 (was unused)");
  CHECK(app::deck_changes(polynomial, linear) ==
        "schedule.decay linear (was polynomial), schedule.power unused (was 0.5)");
}

TEST_CASE("A key in a map is named with the map") {
  DeckFolder const folder;
  auto const chosen = resolved(folder, "optimizer: {method: onebit_sgd, freeze: auto}\n");
  auto const fixed = resolved(folder, "optimizer: {method: onebit_sgd, freeze: {step: 20}}\n");
  CHECK(app::deck_changes(chosen, resolved(folder, "optimizer: {method: onebit_sgd}\n")).empty());
  CHECK(app::deck_changes(chosen, fixed) ==
        "optimizer.freeze.latest unused (was 0.25), optimizer.freeze.step 20 (was null)");
}
