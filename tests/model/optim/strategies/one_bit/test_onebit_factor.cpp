// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/compressed_formulas.hpp"
#include "tests/model/optim/strategies/one_bit/onebit_fixture.hpp"
#include "tests/support/larger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>

// The paper's rule (steer: variance): the fresh variance and the factor r. Oracles P2 and P4 of
// docs/developer/onebit_methods.md, section 7.

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;

namespace {

/// Returns a config with steer: variance and the paper's other settings, except `unify`.
optim::OptimizerConfig steered(std::int64_t freeze) {
  auto config = onebit(Method::onebit_lamb, freeze);
  config.steer = optim::Steer::variance;
  config.exchange = optim::Exchange::momentum;
  config.frozen_variance = optim::FrozenVariance::whole;
  config.unify = optim::Unify::layer;
  config.scale = comm::Scale::rms;
  config.gradient_limit = 0;
  config.beta2 = 0.9;
  return config;
}

}  // namespace

TEST_CASE("P2: on one rank the reconstructed gradient is the given one") {
  auto const layout = active_layout();
  auto config = steered(3);
  config.exchange = GENERATE(optim::Exchange::momentum, optim::Exchange::gradient);
  config.unify = GENERATE(optim::Unify::layer, optim::Unify::element, optim::Unify::none);
  config.clip = 0;
  auto const self = comm::make_self_communicator();
  Training training(layout, config, *self);
  training.start();
  run(training, 1, 4);
  auto const beta1 = static_cast<float>(config.beta1), share1 = static_cast<float>(1 - config.beta1);
  for (int t = 5; t <= 9; ++t) {
    auto const before = training.state();
    auto const given = training.sample(t, 0);
    training.step(t, given);
    auto const after = training.state();
    auto const &m0 = before.arrays.at("momentum"), &m = after.arrays.at("momentum"), &v = after.arrays.at("variance"),
               &f0 = before.arrays.at("fresh_variance"), &f = after.arrays.at("fresh_variance");
    double gradient_off = 0, largest_gradient = 0, fresh_off = 0, largest_fresh = 0;
    int active = 0;
    for (auto const& tensor : layout.tensors())
      for (std::int64_t i = 0; i < tensor.count; ++i) {
        auto const k = static_cast<std::size_t>(tensor.offset + i);
        bool const alive = i < tensor.active && v[k] > 0;
        double const g = alive ? given[k] : 0;
        double const rebuilt = optim::reconstructed_gradient(m[k], m0[k], beta1, share1);
        double const expected = config.beta2 * f0[k] + (1 - config.beta2) * g * g;
        active += alive ? 1 : 0;
        gradient_off = larger(gradient_off, rebuilt - g);
        largest_gradient = larger(largest_gradient, g);
        fresh_off = larger(fresh_off, f[k] - expected);
        largest_fresh = larger(largest_fresh, expected);
      }
    CAPTURE(t, gradient_off, largest_gradient, fresh_off, largest_fresh);
    CHECK(active == layout.count() - 5 - layout.find("zero_gradient").count);
    CHECK(gradient_off <= 5e-6 * largest_gradient);
    CHECK(fresh_off <= 1e-6 * largest_fresh);
  }
}

TEST_CASE("P4: the factor stays inside its bounds and its band") {
  auto const layout = active_layout();
  auto config = steered(3);
  config.factor_min = 0.8;
  config.factor_max = 1.05;
  config.factor_threshold = 0.04;
  Training training(layout, config, group());
  training.start();
  run(training, 1, 3);
  std::vector<float> before(layout.tensors().size(), 1.0f);
  for (int t = 4; t <= 20; ++t) {
    run(training, t, t);
    auto const factor = training.optimizer->last_report().layer("factor");
    bool good = true;
    for (std::size_t l = 0; l < factor.size(); ++l)
      good = good && factor[l] >= 0.8f * (1 - 1e-6f) && factor[l] <= 1.05f * (1 + 1e-6f) &&
             std::abs(factor[l] / before[l] - 1) <= 0.04f * (1 + 1e-4f);
    CHECK(on_all(good));
    before = factor;
  }
}

TEST_CASE("P4: an unclamped factor stays below the variance's bound") {
  // f >= beta2^(t - T_w) v for any gradients, so r <= beta2^(-(t - T_w) / 2).
  auto const layout = active_layout();
  auto config = steered(3);
  config.factor_min = 1e-9;  // no clamping
  config.factor_max = 1e9;
  config.factor_threshold = 1e9;
  Training training(layout, config, group());
  training.start();
  run(training, 1, 3);
  // Without a gradient in this tensor after the freeze, its fresh variance only decays.
  auto const& still = layout.find("block_and_one");
  auto const quiet = static_cast<std::size_t>(layout.index_of("block_and_one"));
  for (int t = 4; t <= 20; ++t) {
    auto gradient = training.sample(t, group().rank());
    std::fill_n(gradient.begin() + still.offset, still.count, 0.0f);
    training.step(t, gradient);
    double const most = std::pow(config.beta2, -(t - 3) / 2.0);
    auto const factor = training.optimizer->last_report().layer("factor");
    float const largest = *std::max_element(factor.begin(), factor.end());
    CAPTURE(t, most, largest, factor[quiet]);
    CHECK(on_all(largest <= most * (1 + 1e-5)));
    if (group().size() == 1) CHECK(factor[quiet] >= most * (1 - 1e-4));
    // Residuals are small at first, so that the bound is nearly reached on any number of ranks.
    if (t < 10) CHECK(on_all(largest >= 0.95 * most));
  }
}
