// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/monitor/gradient_check.hpp"
#include "tests/model/optim/strategies/one_bit/onebit_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;

namespace {

optim::OptimizerConfig limited(Method method) {
  auto config = onebit(method, 12);  // freezes before the limit is known
  if (!optim::compresses(method)) config.freeze.step.reset();
  config.norm_limit = 10;
  return config;
}

/// Returns the gradient of step t; on one rank, one tensor is a thousand times too large.
std::vector<float> exploded(Training& training, ParameterLayout const& layout, int t, int bad_rank) {
  auto gradient = gradient_of(training, t);
  auto const& tensor = layout.find("block");
  if (group().rank() == bad_rank)
    for (Index k = tensor.offset; k < tensor.offset + tensor.count; ++k) gradient[static_cast<std::size_t>(k)] *= 1000;
  return gradient;
}

}  // namespace

TEST_CASE("a norm far above its mean skips the step, names the rank and changes nothing else") {
  auto const layout = active_layout();
  auto const method =
      GENERATE(Method::lamb, Method::adamw, Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  auto config = limited(method);
  config.sketch_every = GENERATE(1, 2);
  int const bad = group().size() - 1;
  Training training(layout, config, group()), undisturbed(layout, config, group());
  double sum = 0, weight = 0;
  for (auto* const each : {&training, &undisturbed}) each->start();
  for (int t = 1; t <= 24; ++t) {
    run(undisturbed, t, t);
    run(training, t, t);
    double const norm = training.optimizer->last_report().gradient_norm;
    sum = 0.99 * sum + 0.01 * norm;
    weight = 0.99 * weight + 0.01;
  }
  auto const before = training.state();
  auto const parameters = download(training.parameters);
  for (int again = 0; again < 2; ++again) {
    training.step(25, exploded(training, layout, 25, bad));
    auto const report = training.optimizer->last_report();
    CHECK(on_all(report.skipped && report.bad_rank == bad && report.first_bad_layer == -1));
    CHECK(on_all(std::abs(report.usual_norm / (sum / weight) - 1) < 1e-5));
    CHECK(on_all(std::isfinite(report.gradient_norm) && report.gradient_norm > 10 * report.usual_norm));
    CHECK(on_all(report.clip_factor == 1 && std::isnan(report.mean_square) && std::isnan(report.local_square)));
    auto const largest = optim::largest_tensor(training.exec, layout, training.gradients.data());
    CHECK(on_all(group().rank() != bad || largest == layout.index_of("block")));
  }
  auto after = training.state();
  after.integers["skipped_steps"] = before.integers.at("skipped_steps");
  CHECK(on_all(same_bits(before, after)));
  CHECK(on_all(parameters == download(training.parameters)));
  run(training, 25, 25);
  run(undisturbed, 25, 25);
  CHECK(on_all(!training.optimizer->last_report().skipped && training.optimizer->last_report().usual_norm == 0));
  CHECK(on_all(download(training.parameters) == download(undisturbed.parameters)));
}

TEST_CASE("the norm limit applies from the 21st step on, also after a resume") {
  auto const layout = active_layout();
  auto const method = GENERATE(Method::lamb, Method::onebit_lamb);
  Training early(layout, limited(method), group());
  early.start();
  run(early, 1, 19);
  early.step(20, exploded(early, layout, 20, 0));
  CHECK(on_all(!early.optimizer->last_report().skipped));

  Training whole(layout, limited(method), group()), resumed(layout, limited(method), group());
  whole.start();
  run(whole, 1, 20);
  resumed.restore(whole.state(), download(whole.parameters));
  resumed.step(21, exploded(resumed, layout, 21, 0));
  CHECK(on_all(resumed.optimizer->last_report().skipped && resumed.optimizer->last_report().bad_rank == 0));

  // Without the key no history is kept, and a saved history is dropped.
  auto config = limited(method);
  config.norm_limit.reset();
  Training unlimited(layout, config, group());
  unlimited.restore(whole.state(), download(whole.parameters));
  CHECK(on_all(!unlimited.state().arrays.contains("norm_history")));
  unlimited.step(21, exploded(unlimited, layout, 21, 0));
  CHECK(on_all(!unlimited.optimizer->last_report().skipped));
}
