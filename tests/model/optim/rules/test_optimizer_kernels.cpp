// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/model/optim/optimizer_harness.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <limits>

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;
using optim::OptimizerConfig;

namespace {

template <class Space>
std::vector<std::vector<float>> run(ParameterLayout const& layout, OptimizerConfig const& config, Space const& exec) {
  KernelRun<Space> kernels(layout, config, exec);
  kernels.set(kernels.x, sample_parameters(layout));
  for (int t = 1; t <= 4; ++t) {
    kernels.set(kernels.g, sample_gradients(layout, t));
    kernels.step(t, 0.01);
  }
  return {kernels.get(kernels.x), kernels.get(kernels.m), kernels.get(kernels.v), kernels.get(kernels.layers)};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("LAMB and AdamW agree with the reference in double", "", Spaces) {
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  config.bias_correction = GENERATE(false, true);
  config.clip = GENERATE(0.0, 0.5, 1e6);
  config.weight_decay = GENERATE(0.0, 0.01);
  config.beta2 = 0.99;
  KernelRun<TestType> kernels(layout, config);
  auto const start = sample_parameters(layout);
  kernels.set(kernels.x, start);
  auto const n = start.size();
  ReferenceState state{{start.begin(), start.end()}, std::vector<double>(n, 0), std::vector<double>(n, 0)};
  for (int t = 1; t <= 6; ++t) {
    auto const gradient = sample_gradients(layout, t);
    kernels.set(kernels.g, gradient);
    auto const gradient_check = kernels.step(t, 0.01);
    auto const reference = (config.method == Method::lamb ? reference_lamb : reference_adamw)(
        layout, config, t, 0.01, {gradient.begin(), gradient.end()}, state);
    CHECK(gradient_check.skip == 0);
    CHECK(std::abs(gradient_check.norm / reference.norm - 1) < 1e-12);
    CHECK(std::abs(gradient_check.clip_factor / reference.clip_factor - 1) < 1e-12);
    CHECK(worst(kernels.get(kernels.m), state.m) < 1e-6);
    CHECK(worst(kernels.get(kernels.v), state.v) < 1e-6);
    CHECK(worst(kernels.get(kernels.x), state.x) < 2e-6);
    if (config.method == Method::lamb) {
      auto expected = reference.trust_ratio;
      expected.insert(expected.end(), reference.weight_norm.begin(), reference.weight_norm.end());
      expected.insert(expected.end(), reference.update_norm.begin(), reference.update_norm.end());
      auto const layers = kernels.get(kernels.layers);
      for (std::size_t i = 0; i < layers.size(); ++i) {
        INFO("step " << t << " entry " << i);
        CHECK(std::abs(layers[i] - expected[i]) <= 3e-6 * std::abs(expected[i]));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("an element that is not finite skips the step without any change", "", Spaces) {
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  float const bad = GENERATE(std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN());
  auto const* const where = GENERATE("matrix", "one", "block_and_one", "zero_gradient");
  KernelRun<TestType> kernels(layout, config);
  kernels.set(kernels.x, sample_parameters(layout));
  kernels.set(kernels.g, sample_gradients(layout, 1));
  kernels.step(1, 0.01);
  auto const x = kernels.get(kernels.x), m = kernels.get(kernels.m), v = kernels.get(kernels.v),
             layers = kernels.get(kernels.layers);
  auto gradient = sample_gradients(layout, 2);
  auto const& tensor = layout.find(where);
  gradient[static_cast<std::size_t>(tensor.offset + tensor.count - 1)] = bad;
  gradient.back() = bad;
  kernels.set(kernels.g, gradient);
  auto const gradient_check = kernels.step(2, 0.01);
  CHECK(gradient_check.skip == 1);
  CHECK(gradient_check.bad_tensor == layout.index_of(where));
  CHECK_FALSE(std::isfinite(gradient_check.norm));
  CHECK(kernels.get(kernels.x) == x);
  CHECK(kernels.get(kernels.m) == m);
  CHECK(kernels.get(kernels.v) == v);
  CHECK(kernels.get(kernels.layers) == layers);
}

TEMPLATE_LIST_TEST_CASE("the largest finite gradient does not overflow", "", Spaces) {
  ParameterLayout layout;
  layout.add({.name = "t", .shape = {10000}});
  OptimizerConfig config;
  KernelRun<TestType> kernels(layout, config);
  kernels.set(kernels.g, std::vector<float>(10000, std::numeric_limits<float>::max()));
  auto const gradient_check = kernels.step(1, 0.01);
  CHECK(gradient_check.skip == 0);
  CHECK(std::abs(gradient_check.norm / (100 * static_cast<double>(std::numeric_limits<float>::max())) - 1) < 1e-12);
  for (float const x : kernels.get(kernels.x)) REQUIRE(std::isfinite(x));
}

TEMPLATE_LIST_TEST_CASE("a learning rate of zero changes only the moments", "", Spaces) {
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  KernelRun<TestType> kernels(layout, config);
  kernels.set(kernels.x, sample_parameters(layout));
  kernels.set(kernels.g, sample_gradients(layout, 1));
  kernels.step(1, 0);
  CHECK(kernels.get(kernels.x) == sample_parameters(layout));
  CHECK(kernels.get(kernels.m)[0] != 0);
}

TEMPLATE_LIST_TEST_CASE("a layout without elements works", "", Spaces) {
  ParameterLayout layout;
  layout.add({.name = "empty", .shape = {0}});
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  KernelRun<TestType> kernels(layout, config);
  auto const gradient_check = kernels.step(1, 0.01);
  CHECK(gradient_check.skip == 0);
  CHECK(gradient_check.norm == 0);
  if (config.method == Method::lamb) CHECK(kernels.get(kernels.layers) == std::vector<float>{1, 0, 0});
}

TEST_CASE("results do not depend on the number of threads") {
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.clip = 0.5;
  config.method = GENERATE(Method::lamb, Method::adamw);
  auto const expected = run(layout, config, Exec());
#ifdef KOKKOS_ENABLE_SERIAL
  if (TeamShape<Exec>::host) CHECK(run(layout, config, Kokkos::Serial()) == expected);
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  CHECK(run(layout, config, Kokkos::OpenMP(1)) == run(layout, config, Kokkos::OpenMP()));
#endif
}
