// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/model/optim/strategies/one_bit/onebit_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>

// What a restart before the freeze must preserve, and what it may change: the freeze step.

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::ContainsSubstring;
using optim::Method;

namespace {

/// Returns this rank's gradients, similar in all steps and larger at first, so that the variance has to settle.
std::vector<float> settling(Training const& training, int t) {
  auto gradient = training.sample(1, group().rank());
  auto const own = training.sample(t, group().rank());
  for (std::size_t k = 0; k < gradient.size(); ++k)
    gradient[k] = (t <= 12 ? 1.2f : 1.0f) * gradient[k] + 0.02f * own[k];
  return gradient;
}

/// Makes a step that every rank skips. The decision to freeze is made before it.
void skip(Training& training, int t) {
  training.step(t, std::vector<float>(static_cast<std::size_t>(training.layout.count()),
                                      std::numeric_limits<float>::quiet_NaN()));
}

Training& resume(Training& training, Training& from) {
  training.restore(from.state(), download(from.parameters));
  return training;
}

/// A run's state after a step.
struct Saved {
  int step;
  MemoryState state;
  std::vector<float> parameters;
};

/// What a step reports about the freeze.
struct Told {
  optim::Phase phase;
  double variance_change;
  bool near;
  std::vector<std::string> notices;
};

Told step(Training& training, int t) {
  bool const near = training.optimizer->near_freeze(t);
  training.step(t, settling(training, t));
  auto const& report = training.optimizer->last_report();
  auto const& check = report.variance_check;
  return {report.phase, check.step == t ? check.change : std::nan(""), near, report.notices};
}

}  // namespace

TEST_CASE("freeze: auto survives a restart: the same checks, the same freeze, the same bits") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam);
  int const skipped_after = GENERATE(0, 9, 30, 59, 60);  // 0: no gradient is skipped
  // Before the first check, at checks with large and small changes, between them, before the freeze and after it.
  auto const saved_after =
      skipped_after > 0 ? std::vector{skipped_after} : std::vector{9, 10, 20, 25, 30, 40, 49, 55, 59, 60, 61};
  constexpr int steps = 400, last = 65;
  auto config = onebit(method, 0);
  config.freeze.step.reset();  // at the latest after 100 of 400 steps
  config.beta2 = 0.8;          // checks after 10, 20, ... steps
  config.clip = 0;
  Training whole(layout, config, group(), {}, nullptr, steps);
  whole.start();
  std::vector<Told> expected;
  std::vector<Saved> saved;
  for (int t = 1; t <= last; ++t) {
    expected.push_back(step(whole, t));
    if (t == skipped_after) skip(whole, t + 1);
    if (std::ranges::find(saved_after, t) != saved_after.end())
      saved.push_back({t, whole.state(), download(whole.parameters)});
    if (t % 10 == 1) CHECK(on_all(std::isfinite(expected.back().variance_change) == (t > 20 && t <= 61)));
  }
  // The freeze was chosen and is not the latest step: three small changes follow two large ones.
  CHECK(on_all(whole.optimizer->frozen_after() == 60));
  REQUIRE(saved.size() == saved_after.size());
  for (Saved const& from : saved) {
    Training resumed(layout, config, group(), {}, nullptr, steps);
    resumed.restore(from.state, from.parameters);
    bool alike = true;
    for (int t = from.step + 1; t <= last; ++t) {
      auto const told = step(resumed, t);
      auto const& before = expected[static_cast<std::size_t>(t - 1)];
      alike = alike && told.phase == before.phase && told.near == before.near && told.notices == before.notices &&
              same_bits(std::vector{told.variance_change}, std::vector{before.variance_change});
    }
    CAPTURE(from.step, skipped_after);
    CHECK(on_all(alike));
    CHECK(on_all(resumed.optimizer->frozen_after() == 60));
    CHECK(on_all(same_bits(download(whole.parameters), download(resumed.parameters))));
    CHECK(on_all(same_bits(whole.state(), resumed.state())));
  }
}

TEST_CASE("a freeze step lowered by a restart freezes at once, and the fresh variance starts as a copy") {
  auto const layout = active_layout();
  auto config = onebit(Method::onebit_lamb, 20);
  config.steer = optim::Steer::variance;
  Training before(layout, config, group());
  before.start();
  run(before, 1, 6);
  CHECK(on_all(before.state().arrays.count("fresh_variance") == 0));
  config.freeze.step = 4;  // before the steps already made
  Training lowered(layout, config, group());
  resume(lowered, before);
  CHECK(on_all(!lowered.optimizer->frozen_after().has_value()));
  skip(lowered, 7);  // freezes but moves nothing, so that the frozen state is visible
  auto const frozen = lowered.state();
  CHECK(on_all(lowered.optimizer->frozen_after() == 6));
  CHECK(on_all(same_bits(frozen.arrays.at("variance"), before.state().arrays.at("variance"))));
  CHECK(on_all(same_bits(frozen.arrays.at("fresh_variance"), frozen.arrays.at("variance"))));
  auto const& v = frozen.arrays.at("variance");
  CHECK(on_all(std::any_of(v.begin(), v.end(), [](float value) { return value > 0; })));
  // From then on the run equals one with this freeze step from the start.
  config.freeze.step = 6;
  Training whole(layout, config, group());
  whole.start();
  run(whole, 1, 10);
  run(lowered, 7, 10);
  CHECK(on_all(same_bits(download(whole.parameters), download(lowered.parameters))));
  auto const last = lowered.state();
  for (auto const* const name : {"momentum", "variance", "fresh_variance"})
    CHECK(on_all(same_bits(last.arrays.at(name), whole.state().arrays.at(name))));
  CHECK(on_all(last.arrays.at("fresh_variance") != v));
}

TEST_CASE("tensors without a trust ratio are named at the freeze and use min(1, max_coefficient)") {
  ParameterLayout layout;
  layout.add({.name = "matrix", .shape = {40, 8}, .active = 320});
  layout.add({.name = "silent", .shape = {24}, .decays = false, .active = 24});
  layout.add({.name = "nought",
              .shape = {10},
              .decays = false,
              .active = 10});  // zeros, with gradients from the last dense step on
  layout.add({.name = "bias", .shape = {12}, .decays = false, .active = 12});
  auto config = onebit(Method::onebit_lamb, 3);
  config.max_coefficient = GENERATE(0.3, 10.0);
  config.steer = GENERATE(optim::Steer::variance, optim::Steer::norm);
  bool const restarts = GENERATE(false, true);
  Training first(layout, config, group()), second(layout, config, group());
  std::vector<float> start(static_cast<std::size_t>(layout.count()), 0.5f);
  auto const &silent = layout.find("silent"), &nought = layout.find("nought");
  std::fill_n(start.begin() + nought.offset, nought.count, 0.0f);
  upload(first.parameters, start);
  auto const step = [&](Training& training, int t) {
    std::vector<float> g(start.size());
    for (std::size_t k = 0; k < g.size(); ++k)
      g[k] = 0.1f * std::sin(0.3f * static_cast<float>(k) + static_cast<float>(t + group().rank()));
    std::fill_n(g.begin() + silent.offset, silent.count, 0.0f);
    if (t < 3) std::fill_n(g.begin() + nought.offset, nought.count, 0.0f);
    training.step(t, g);
  };
  for (int t = 1; t <= 3; ++t) step(first, t);
  auto const averaged = first.optimizer->last_report().layer("average");
  // A restart before the freeze preserves which ratios have samples.
  Training& training = restarts ? resume(second, first) : first;
  step(training, 4);
  auto const& report = training.optimizer->last_report();
  REQUIRE(on_all(report.notices.size() == 3));
  CHECK(on_all(report.notices[2] ==
               "tensors without a trust ratio so far, which use min(1, optimizer.max_coefficient): "
               "silent, nought"));
  auto const average = report.layer("average");
  float const instead = static_cast<float>(std::min(1.0, config.max_coefficient));
  CHECK(on_all(average == std::vector<float>{averaged[0], instead, instead, averaged[3]}));
  CHECK(on_all(averaged[0] > 0 && averaged[3] > 0 && averaged[1] == 0 && averaged[2] == 0));
  // steer: variance multiplies the average by r, which is within 10 % of 1 in its first step.
  if (config.steer == optim::Steer::variance)
    CHECK(on_all(std::abs(report.layer("trust_ratio")[2] / instead - 1) <= 0.1f * (1 + 1e-6f)));
}

TEST_CASE("no notice about trust ratios if all tensors have one") {
  auto const layout = golden_layout();
  auto config = onebit(Method::onebit_lamb, 3);
  Training training(layout, config, group());
  upload(training.parameters, golden_start());
  for (int t = 1; t <= 4; ++t) {
    auto const g = golden_gradient(t, group().rank(), 1.1);
    training.step(t, {g.begin(), g.end()});
  }
  auto const notices = training.optimizer->last_report().notices;
  REQUIRE(on_all(notices.size() == 1));
  CHECK_THAT(notices[0], ContainsSubstring("the variance is frozen after step 3"));
}
