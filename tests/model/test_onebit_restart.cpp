// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/model/onebit_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <limits>

// What a restart before the freeze must not forget.

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;

namespace {

/// This rank's gradients, larger at first: the variance has to settle.
std::vector<float> settling(Training const& training, int t) {
  auto gradient = training.sample(t, group().rank());
  for (auto& value : gradient) value *= t <= 12 ? 1.2f : 1.0f;
  return gradient;
}

/// A step that every rank skips; whatever is decided before a step is decided.
void skip(Training& training, int t) {
  training.step(t, std::vector<float>(static_cast<std::size_t>(training.layout.count()),
                                      std::numeric_limits<float>::quiet_NaN()));
}

Training& resume(Training& training, Training& from) {
  upload(training.parameters, download(from.parameters));
  auto state = from.state();
  state.direction = MemoryState::Direction::load;
  training.optimizer->visit_state(state);
  return training;
}

/// What a step says about the freeze.
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
  return {report.phase, report.variance_change, near, report.notices};
}

}  // namespace

TEST_CASE("freeze: auto survives a restart: the same checks, the same freeze, the same bits") {
  auto const layout = live_layout();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam);
  // Before the first check, at checks that find much and little, between them, before the freeze and after it.
  int const saved_after = GENERATE(9, 10, 20, 25, 30, 40, 49, 55, 59, 60, 61);
  bool const skips = GENERATE(false, true);
  constexpr int steps = 400, last = 65;
  auto config = onebit(method, 0);
  config.freeze.step.reset();  // at latest after 100 of 400 steps
  config.beta2 = 0.8;          // checks after 10, 20, ... steps
  config.clip = 0;
  Training whole(layout, config, group(), {}, nullptr, steps), resumed(layout, config, group(), {}, nullptr, steps);
  whole.start();
  for (int t = 1; t <= saved_after; ++t) step(whole, t);
  if (skips) skip(whole, saved_after + 1);
  resume(resumed, whole);
  bool alike = true;
  for (int t = saved_after + 1; t <= last; ++t) {
    auto const expected = step(whole, t), told = step(resumed, t);
    alike = alike && told.phase == expected.phase && told.near == expected.near && told.notices == expected.notices &&
            same_bits(std::vector{told.variance_change}, std::vector{expected.variance_change});
    bool const told_before = skips && saved_after == 60;  // by the step that froze and was skipped
    if (t % 10 == 1) CHECK(on_all(std::isfinite(told.variance_change) == (t > 20 && t <= (told_before ? 60 : 61))));
  }
  CAPTURE(saved_after, skips);
  CHECK(on_all(alike));
  // Chosen, and not the latest step: after three calm checks behind two that were not.
  CHECK(on_all(whole.optimizer->frozen_after() == 60 && resumed.optimizer->frozen_after() == 60));
  CHECK(on_all(same_bits(download(whole.parameters), download(resumed.parameters))));
  CHECK(on_all(same_bits(whole.state(), resumed.state())));
}
