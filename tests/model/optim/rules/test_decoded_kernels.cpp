// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/dense_kernels.hpp"
#include "tests/model/optim/rules/decoded_kernel_fixture.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

// Compares the kernels after an exchange with the formulas in double, in every enabled space.

using namespace bellwether;
using namespace bellwether::test;
using namespace bellwether::test::after_exchange;
using optim::Exchange;
using optim::Unify;

TEMPLATE_LIST_TEST_CASE("1-bit LAMB and Adam after an exchange agree with the formulas in double", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers const numbers(layout);
  auto const exchange = GENERATE(Exchange::gradient, Exchange::momentum);
  auto const unify = GENERATE(Unify::element, Unify::layer, Unify::none);
  bool const exact = GENERATE(false, true);
  bool const steered = GENERATE(false, true);
  float const lead = GENERATE(0.0f, 0.9f);
  Step<TestType> lamb(layout, numbers, exact, 0), adam(layout, numbers, exact, 0);
  auto const units = lamb.units(exchange, unify, lead);
  optim::decoded_lamb_moments(lamb.exec, lamb.context(), lamb.lamb_moments(units, steered), lamb.norms);
  optim::FactorBounds const bounds{0.5, 4, 0.1};
  optim::decoded_lamb_factors(lamb.exec, lamb.context(), bounds, lamb.norms, lamb.record());
  optim::decoded_adam_apply(adam.exec, adam.context(), adam.adam_step(adam.units(exchange, unify, lead)));
  lamb.exec.fence("bellwether::test::decoded_kernels");
  adam.exec.fence("bellwether::test::decoded_kernels");

  std::vector<double> m, u, x, f;
  Layers layers(layout);
  for (std::size_t l = 0; l < layout.tensors().size(); ++l) {
    auto const& tensor = layout.tensors()[l];
    double const decays = tensor.decays ? decay : 0;
    for (auto k = static_cast<std::size_t>(tensor.offset); k < static_cast<std::size_t>(numbers.end[l]); ++k) {
      Element const element(numbers, k, l, decays, exchange, unify, static_cast<double>(lead));
      m.push_back(element.m);
      u.push_back(element.u);
      f.push_back(steered ? element.f : static_cast<double>(numbers.f[k]));
      x.push_back(numbers.x[k] - rate * element.u);
      layers.add(element, numbers.x[k], steered);
    }
    layers.close(l, bounds);
  }
  CHECK(worst(downloaded(lamb.m), m) < 1e-6);
  CHECK(worst(downloaded(lamb.g), u) < 2e-6);
  CHECK(worst(downloaded(lamb.f), f) < 4e-6);
  CHECK(worst(downloaded(adam.m), m) < 1e-6);
  CHECK(worst(downloaded(adam.g), u) < 2e-6);
  CHECK(worst(downloaded(adam.x), x) < 2e-6);
  layers.check(downloaded(lamb.layers));
}

TEMPLATE_LIST_TEST_CASE("SGD with momentum, dense and after an exchange, agrees with the formula in double", "",
                        Spaces) {
  auto const layout = awkward_layout();
  Numbers const numbers(layout);
  bool const exact = GENERATE(false, true);
  Step<TestType> dense(layout, numbers, exact, 0), onebit(layout, numbers, exact, 0);
  optim::sgd_apply(dense.exec, dense.context(), dense.sgd_step());
  optim::decoded_sgd_apply(onebit.exec, onebit.context(), onebit.decoded_sgd_step());
  dense.exec.fence("bellwether::test::decoded_kernels");
  onebit.exec.fence("bellwether::test::decoded_kernels");
  std::vector<double> m, x, bits_m, bits_x;
  for (std::size_t l = 0; l < layout.tensors().size(); ++l)
    for (auto k = m.size(); k < static_cast<std::size_t>(numbers.end[l]); ++k) {
      double const decayed = (layout.tensors()[l].decays ? decay : 0) * numbers.x[k];
      m.push_back(beta1 * numbers.m[k] + clip * numbers.g[k] + decayed);
      bits_m.push_back(beta1 * numbers.m[k] + (numbers.active[k] ? static_cast<double>(numbers.mean[k]) : decayed));
      x.push_back(numbers.x[k] - rate * m.back());
      bits_x.push_back(numbers.x[k] - rate * bits_m.back());
    }
  CHECK(worst(downloaded(dense.m), m) < 1e-6);
  CHECK(worst(downloaded(dense.x), x) < 1e-6);
  CHECK(worst(downloaded(onebit.m), bits_m) < 1e-6);
  CHECK(worst(downloaded(onebit.x), bits_x) < 1e-6);
}

TEMPLATE_LIST_TEST_CASE("a skipped step after an exchange changes nothing", "", Spaces) {
  auto const layout = awkward_layout();
  Numbers const numbers(layout);
  Step<TestType> step(layout, numbers, false, 1);
  auto const units = step.units(Exchange::gradient, Unify::element, 0.9f);
  optim::decoded_lamb_moments(step.exec, step.context(), step.lamb_moments(units, true), step.norms);
  optim::decoded_lamb_factors(step.exec, step.context(), {0.5, 4, 0.1}, step.norms, step.record());
  optim::decoded_adam_apply(step.exec, step.context(), step.adam_step(units));
  optim::sgd_apply(step.exec, step.context(), step.sgd_step());
  optim::decoded_sgd_apply(step.exec, step.context(), step.decoded_sgd_step());
  step.exec.fence("bellwether::test::decoded_kernels");
  CHECK((downloaded(step.x) == numbers.x));
  CHECK((downloaded(step.g) == numbers.g));
  CHECK((downloaded(step.m) == numbers.m));
  CHECK((downloaded(step.f) == numbers.f));
  CHECK((downloaded(step.layers) == std::vector<float>(6 * layout.tensors().size(), 1.0f)));
}
