// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/model/optim/strategies/one_bit/onebit_fixture.hpp"
#include "tests/support/larger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;

namespace {

bool stays(Training& training) {
  return training.optimizer->gradient_point(training.exec, training.parameters, 0.1) == training.parameters.data();
}

/// Returns this rank's residuals in the units of the update with a rate of 1.
std::vector<double> mean_residual(Training& training, optim::OptimizerConfig const& config) {
  auto const state = training.state();
  auto const& report = training.optimizer->last_report();
  auto const& h = state.arrays.at("mean_residual");
  std::vector<double> left(h.begin(), h.end());
  for (std::size_t l = 0; l < training.layout.tensors().size(); ++l) {
    auto const& tensor = training.layout.tensors()[l];
    double factor = 1;
    if (config.method == Method::onebit_lamb) factor = static_cast<double>(report.layer("trust_ratio")[l]);
    if (config.method == Method::onebit_sgd) factor = 1 / (1 - config.beta1);
    for (auto k = static_cast<std::size_t>(tensor.offset); k < static_cast<std::size_t>(tensor.offset + tensor.count);
         ++k) {
      left[k] *= factor;
      if (config.method == Method::onebit_sgd || config.unify == optim::Unify::element) continue;
      if (config.unify == optim::Unify::layer) left[k] /= state.arrays.at("units")[l];
      double const growth = static_cast<double>(report.layer("root_growth")[l]);
      left[k] /= growth * std::sqrt(static_cast<double>(state.arrays.at("variance")[k])) + config.epsilon;
    }
  }
  return left;
}

}  // namespace

TEST_CASE("h averages residuals as the momentum averages gradients") {
  if (group().size() == 1) SKIP("one rank has no residuals");
  auto const layout = active_layout();
  auto config = onebit(GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd), 2);
  config.step_ahead = 1;
  Training training(layout, config, group());
  training.start();
  run(training, 1, 2);
  std::vector<double> expected(static_cast<std::size_t>(layout.count()), 0.0);
  for (int t = 3; t <= 8; ++t) {
    run(training, t, t);
    auto const state = training.state();
    auto const& error = state.arrays.at("worker_error");
    auto const& h = state.arrays.at("mean_residual");
    double worst = 0, largest = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      expected[k] = config.beta1 * expected[k] + (1 - config.beta1) * static_cast<double>(error[k]);
      worst = larger(worst, static_cast<double>(h[k]) - expected[k]);
      largest = larger(largest, expected[k]);
    }
    CHECK(on_all(worst <= 1e-6 * largest && largest > 0));
  }
}

TEST_CASE("a rank evaluates gradients at its parameters without compression errors") {
  auto const layout = active_layout();
  auto config = onebit(GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd), 2);
  config.unify = GENERATE(optim::Unify::element, optim::Unify::layer, optim::Unify::none);
  config.step_ahead = GENERATE(0.5, 1.0);
  config.epsilon = 1e-3;
  comm::CommConfig comm;
  comm.scale_groups = GENERATE(1, 5);  // 5: scales change inside runs of 32
  Training training(layout, config, group(), comm);
  training.start();
  CHECK(on_all(stays(training)));
  run(training, 1, 2);
  CHECK(on_all(stays(training)));
  run(training, 3, 6);
  if (group().size() == 1) {
    CHECK(stays(training));
    return;
  }
  double const rate = 0.3;
  auto const point = training.point(rate);
  auto const x = download(training.parameters);
  auto const left = mean_residual(training, config);  // after this call the residuals are stored in another form
  double worst = 0, furthest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    double const moved = config.step_ahead * rate * left[k], expected = static_cast<double>(x[k]) - moved;
    worst = larger(worst, std::abs(static_cast<double>(point[k]) - expected) / (std::abs(expected) + std::abs(moved)));
    furthest = larger(furthest, moved);
  }
  CHECK(on_all(worst < 1e-6));
  CHECK(on_all(furthest > 1e-3));
  CHECK(on_all(same_bits(training.point(rate), point)));
  CHECK(on_all(same_bits(download(training.parameters), x)));
}

TEST_CASE("a restored rank evaluates gradients at the same point") {
  auto const layout = active_layout();
  auto config = onebit(GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd), 2);
  config.unify = GENERATE(optim::Unify::element, optim::Unify::layer, optim::Unify::none);
  config.frozen_variance = GENERATE(optim::FrozenVariance::shape, optim::FrozenVariance::whole);
  config.step_ahead = 1;
  Training whole(layout, config, group()), resumed(layout, config, group());
  whole.start();
  run(whole, 1, 6);
  resumed.restore(whole.state(), download(whole.parameters));
  // Nothing else may be called before the point, because gradients come first in a step.
  CHECK(on_all(same_bits(whole.point(0.3), resumed.point(0.3))));
}

TEST_CASE("the point does not depend on an earlier update of h") {
  if (group().size() == 1) SKIP("one rank has no residuals");
  auto const layout = active_layout();
  auto config = onebit(GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd), 2);
  config.unify = GENERATE(optim::Unify::element, optim::Unify::layer, optim::Unify::none);
  config.step_ahead = 1;
  comm::CommConfig comm;
  comm.scale_groups = GENERATE(1, 5);
  Training asked(layout, config, group(), comm), at_once(layout, config, group(), comm);
  asked.start();
  at_once.start();
  run(asked, 1, 4);
  run(at_once, 1, 4);
  for (int t = 5; t <= 8; ++t) {
    auto const before = asked.state().arrays.at("mean_residual");
    CHECK(on_all(same_bits(asked.point(0.3), at_once.point(0.3))));
    CHECK(on_all(same_bits(at_once.state().arrays.at("mean_residual"), before)));
    run(asked, t, t);
    run(at_once, t, t);
  }
}

TEST_CASE("h does not change in a skipped step or between two points") {
  if (group().size() == 1) SKIP("one rank has no residuals");
  auto const layout = active_layout();
  auto config = onebit(Method::onebit_lamb, 2);
  config.step_ahead = 1;
  Training training(layout, config, group());
  training.start();
  run(training, 1, 5);
  auto const first = training.point(0.3);
  CHECK(on_all(same_bits(training.point(0.3), first)));
  auto const before = training.state().arrays.at("mean_residual");
  std::vector<float> gradient(static_cast<std::size_t>(layout.count()), 0.5f);
  gradient[7] = std::numeric_limits<float>::quiet_NaN();
  training.step(6, gradient);
  CHECK(on_all(training.optimizer->last_report().skipped));
  CHECK(on_all(same_bits(training.point(0.3), first)));
  CHECK(on_all(same_bits(training.state().arrays.at("mean_residual"), before)));
}

TEST_CASE("there is no step-ahead without residuals, or if they are residuals of momenta") {
  auto const layout = active_layout();
  auto config = onebit(GENERATE(Method::onebit_lamb, Method::onebit_adam), 2);
  config.step_ahead = 1;
  comm::CommConfig comm;
  switch (GENERATE(0, 1, 2)) {
    case 0:
      config.step_ahead = 0;
      break;
    case 1:
      config.exchange = optim::Exchange::momentum;
      break;
    default:
      comm.error_feedback = false;
      break;
  }
  Training training(layout, config, group(), comm);
  training.start();
  run(training, 1, 5);
  CHECK(on_all(training.optimizer->last_report().phase == optim::Phase::compressed));
  CHECK(on_all(stays(training)));
}

// A quadratic, 1/2 sum of s_k x_k^2, with noise on each rank. Momentum with delayed gradients cannot follow its
// steepest directions.
TEST_CASE("step-ahead removes the delay of error feedback") {
  if (group().size() == 1) SKIP("one rank has no delay");
  auto const layout = active_layout();
  auto const n = static_cast<std::size_t>(layout.count());
  auto const loss_of = [&](double share) {
    auto config = onebit(Method::onebit_sgd, 0);
    config.weight_decay = 0;
    config.clip = 0;
    config.step_ahead = share;
    Training training(layout, config, group());
    training.start();
    std::mt19937 random(static_cast<unsigned>(7 + group().rank()));
    std::normal_distribution<float> noise(0, 0.01f);
    auto const steepness = [n](std::size_t k) { return 0.05f + 0.95f * static_cast<float>(k % 64) / 63; };
    double const rate = 0.5;
    double mean = 0;
    for (int t = 1; t <= 120; ++t) {
      auto gradient = training.point(rate);
      for (std::size_t k = 0; k < n; ++k) gradient[k] = steepness(k) * gradient[k] + noise(random);
      training.step(t, gradient, rate);
      auto const x = download(training.parameters);
      double loss = 0;
      for (std::size_t k = 0; k < n; ++k) loss += 0.5 * static_cast<double>(steepness(k)) * x[k] * x[k];
      if (t > 90) mean += loss / 30;
    }
    return mean;
  };
  double const ahead = loss_of(1), behind = loss_of(0);
  INFO("loss " << ahead << " looking ahead, " << behind << " without");
  CHECK(on_all(ahead < 0.5 * behind));
}
