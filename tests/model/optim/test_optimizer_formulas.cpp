// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/formulas.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <limits>
#include <vector>

using namespace bellwether::optim;
using Catch::Matchers::WithinRel;

TEST_CASE("every method has a name and says what it compresses and freezes") {
  struct Facts {
    Method method;
    char const* name;
    bool compresses, has_variance, freezes_variance;
    bool grows, grows_steered;  ///< variance_grows() with steer: norm, with steer: variance
  };
  std::vector<Facts> const all{{Method::lamb, "lamb", false, true, false, false, false},
                               {Method::adamw, "adamw", false, true, false, false, false},
                               {Method::sgd, "sgd", false, false, false, false, false},
                               {Method::onebit_lamb, "onebit_lamb", true, true, true, true, false},
                               {Method::onebit_adam, "onebit_adam", true, true, true, true, true},
                               {Method::onebit_sgd, "onebit_sgd", true, false, false, false, false}};
  REQUIRE(all.size() == named_methods().size());
  for (auto const& expected : all) {
    INFO(expected.name);
    CHECK(name_of(expected.method) == expected.name);
    CHECK(method_of(expected.name) == expected.method);
    CHECK(compresses(expected.method) == expected.compresses);
    CHECK(has_variance(expected.method) == expected.has_variance);
    CHECK(freezes_variance(expected.method) == expected.freezes_variance);
    OptimizerConfig config;
    config.method = expected.method;
    config.steer = Steer::norm;
    CHECK(config.variance_grows() == expected.grows);
    config.steer = Steer::variance;
    CHECK(config.variance_grows() == expected.grows_steered);
    config.frozen_variance = FrozenVariance::whole;
    CHECK_FALSE(config.variance_grows());
  }
}

TEST_CASE("the trust ratio is clamped, and exactly one if a norm is zero") {
  CHECK(trust_ratio(2, 4, 0.01, 10) == 0.5);
  CHECK(trust_ratio(2, 4, 0.01, 0.3) == 0.3);
  CHECK(trust_ratio(1, 1000, 0.01, 0.3) == 0.01);
  CHECK(trust_ratio(0, 4, 0.01, 0.3) == 1);
  CHECK(trust_ratio(2, 0, 0.01, 0.3) == 1);
  CHECK(trust_ratio(0, 0, 0.01, 0.3) == 1);
}

TEST_CASE("clipping scales down only gradients above the limit") {
  CHECK(clip_factor(4, 1) == 0.25);
  CHECK(clip_factor(1, 1) == 1);
  CHECK(clip_factor(0, 1) == 1);
  CHECK(clip_factor(4, 0) == 1);
}

TEST_CASE("moments and directions agree with one element by hand") {
  OptimizerConfig config;
  config.beta1 = 0.5;
  config.beta2 = 0.75;
  config.epsilon = 0.5;
  auto const c = coefficients<double>(config, 1);
  double const m = next_momentum(c, 2.0, 4.0);
  double const v = next_variance(c, 4.0, 4.0);
  CHECK(m == 3);
  CHECK(v == 7);
  CHECK_THAT(adam_direction(c, 3.0, 4.0), WithinRel(3 / 2.5, 1e-15));
  CHECK_THAT(direction(c, 3.0, 4.0, 10.0, 0.01), WithinRel(3 / 2.5 + 0.1, 1e-15));
}

TEST_CASE("bias correction divides by one minus a power of beta, and is exactly one if off") {
  OptimizerConfig config;
  CHECK(coefficients<float>(config, 1).correction1 == 1);
  CHECK(coefficients<float>(config, 1).correction2 == 1);
  config.bias_correction = true;
  CHECK_THAT(coefficients<double>(config, 1).correction1, WithinRel(10.0, 1e-12));
  CHECK_THAT(coefficients<double>(config, 1).correction2, WithinRel(1000.0, 1e-12));
  CHECK_THAT(coefficients<double>(config, 2).correction1, WithinRel(1 / (1 - 0.81), 1e-12));
  CHECK(coefficients<double>(config, 1000000).correction2 == 1);
  config.beta1 = 0;
  CHECK(coefficients<double>(config, 1).correction1 == 1);
}
