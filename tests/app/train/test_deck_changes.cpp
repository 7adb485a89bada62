// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/deck_changes.hpp"
#include "tests/input/deck/deck_texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;

namespace {

std::string resolved(DeckFolder const& folder, std::string const& text, std::vector<std::string> overrides = {}) {
  auto const source = folder.with_data(text, std::move(overrides));
  return input::resolved_deck(input::parse_deck(source), source);
}

std::string changes(std::string const& before, std::string const& now) {
  return app::changes_text(app::deck_changes(before, now));
}

}  // namespace

TEST_CASE("Changes between two decks are listed with both values") {
  DeckFolder const folder;
  auto const before = resolved(folder, "run: {name: 'a \"b # c', seed: 3}\n");
  CHECK(changes(before, before).empty());
  // The order of keys and the run's directory change nothing.
  CHECK(
      changes(before, resolved(folder, "\n\nrun: {seed: 4, name: 'a \"b # c', directory: elsewhere}\n", {"run.seed=3"}))
          .empty());
  CHECK(changes(before, resolved(folder, "run: {name: 'a \"b # d', seed: 4}\n")) ==
        R"(run.name "a \"b # d" (was "a \"b # c"), run.seed 4 (was 3))");
}

TEST_CASE("A key that begins to apply is a change") {
  DeckFolder const folder;
  auto const linear = resolved(folder, "schedule: {decay: linear}\n");
  auto const polynomial = resolved(folder, "schedule: {decay: polynomial, power: 0.5}\n");
  CHECK(changes(linear, polynomial) == "schedule.decay polynomial (was linear), schedule.power 0.5 (was unused)");
  CHECK(changes(polynomial, linear) == "schedule.decay linear (was polynomial), schedule.power unused (was 0.5)");
}

TEST_CASE("A key in a map is named with its map") {
  DeckFolder const folder;
  auto const chosen = resolved(folder, "optimizer: {method: onebit_sgd, freeze: auto}\n");
  auto const fixed = resolved(folder, "optimizer: {method: onebit_sgd, freeze: {step: 20}}\n");
  CHECK(changes(chosen, resolved(folder, "optimizer: {method: onebit_sgd}\n")).empty());
  CHECK(changes(chosen, fixed) == "optimizer.freeze.latest unused (was 0.25), optimizer.freeze.step 20 (was null)");
}

TEST_CASE("A resumed run cannot change its method") {
  DeckFolder const folder;
  auto const lamb = resolved(folder, "optimizer: {method: lamb}\n");
  auto const faults_of_change = [&](std::string const& before, std::string const& now) {
    return app::method_faults(app::deck_changes(before, now), "run/step_30");
  };
  CHECK(faults_of_change(lamb, lamb).empty());
  CHECK(faults_of_change(resolved(folder, "optimizer: {method: onebit_lamb}\n"), lamb) ==
        std::vector<std::string>{"optimizer.method: lamb, but run/step_30 was written with onebit_lamb, and a run "
                                 "cannot change its method; allowed: onebit_lamb"});
}

TEST_CASE("A resumed run cannot change its model") {
  DeckFolder const folder;
  auto const of = [&](std::string const& model) { return resolved(folder, "model: {" + model + "}\n"); };
  auto const faults = [&](std::string const& now) {
    return app::model_faults(app::deck_changes(of("heads: 4"), of(now)), "run/step_30");
  };
  CHECK(faults("heads: 4, hidden_dropout: 0.2, compute: bf16").empty());
  CHECK(faults("heads: 2") == std::vector<std::string>{"model.heads: 2, but run/step_30 was written with 4, and its "
                                                       "weights were trained with that value; allowed: 4"});
  CHECK(faults("heads: 4, hidden: 128") ==
        std::vector<std::string>{"model.hidden: 128, but run/step_30 was written with 256, and its weights have the "
                                 "sizes of that model; allowed: 256"});
  CHECK(faults("heads: 4, vocabulary: 64, layers: 1, feed_forward: 8, positions: 16, segments: 3").size() == 5);
  CHECK(faults("activation: gelu_tanh, layer_norm_epsilon: 1e-5").size() == 2);
}

TEST_CASE("After the freeze, settings of the frozen state cannot change") {
  DeckFolder const folder;
  auto const of = [&](std::string const& settings) {
    auto const source = folder.with_data("optimizer: {method: onebit_lamb, " + settings + "}\n");
    auto const deck = input::parse_deck(source);
    return std::pair(deck.optimizer, input::resolved_deck(deck, source));
  };
  auto const before = of("freeze: {step: 20}").second;
  auto const faults = [&](std::string const& settings) {
    auto const [config, now] = of(settings);
    return app::fixed_key_faults(app::deck_changes(before, now), config.keys_fixed_at_freeze(), "run/step_30", 30);
  };
  CHECK(faults("freeze: {step: 25}, lr: 0.5, beta1: 0.8, nesterov: true, step_ahead: 0, gradient_limit: 0, scale: rms")
            .empty());
  CHECK(faults("freeze: {step: 20}, unify: layer, epsilon: 1e-6") ==
        std::vector<std::string>{
            "optimizer.unify: layer, but run/step_30 was written after the freeze with element, and the frozen state "
            "depends on it; allowed: element, or optimizer.freeze.step above 30, which starts a second dense phase"});
  CHECK(faults("freeze: {step: 20}, epsilon: 1e-6").size() == 1);
  CHECK(faults("freeze: {step: 20}, exchange: momentum, beta1: 0.8").size() == 2);
  CHECK(faults("freeze: {step: 20}, frozen_variance: whole").size() == 1);
  // frozen_variance no longer applies, only because of this change.
  auto const steered = faults("freeze: {step: 20}, steer: variance");
  REQUIRE(steered.size() == 1);
  CHECK(steered[0].starts_with("optimizer.steer: variance, but "));
}

TEST_CASE("A deck of an earlier version is compared under the current names of its keys") {
  std::string const before = "optimizer:\n  look_ahead: 1\n  kept_variance: shape\n";
  CHECK(app::deck_changes(before, "optimizer:\n  step_ahead: 1\n  frozen_variance: shape\n").empty());
  auto const changes = app::deck_changes(before, "optimizer:\n  step_ahead: 0.5\n  frozen_variance: shape\n");
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].key == "optimizer.step_ahead");
  CHECK(changes[0].was == "1");
}
