// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/world.hpp"
#include "tests/model/optim/optimizer_fixture.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>

// Runs that resume after the freeze with another freeze.step. A step that is still to come starts a second dense phase.

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::ContainsSubstring;
using optim::Method;
using optim::Phase;

namespace {

comm::Communicator& group() { return world().communicator(); }

/// Combines a check of all ranks: a rank that leaves a test alone would hang the others.
bool on_all(bool mine) {
  double failures = mine ? 0 : 1;
  group().sum_host({&failures, 1}, "bellwether::test::agree");
  return failures == 0;
}

/// Several blocks; five rows of eight are active, or all.
ParameterLayout rows_and_more(bool all_rows = true) {
  ParameterLayout layout;
  layout.add({.name = "matrix", .shape = {96, 100}, .active = 9600});
  layout.add({.name = "rows", .shape = {8, 16}, .active = all_rows ? 128 : 80});
  layout.add({.name = "bias", .shape = {40}, .decays = false, .active = 40});
  return layout;
}

optim::OptimizerConfig onebit(Method method, std::optional<std::int64_t> freeze) {
  optim::OptimizerConfig config;
  config.method = method;
  config.freeze.step = freeze;
  config.sketch_columns = 256;
  config.beta2 = 0.9;  // growth is visible after few steps
  return config;
}

void start(Training& training) {
  std::vector<float> values(static_cast<std::size_t>(training.layout.count()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = 0.04f * std::sin(0.37f * static_cast<float>(k) + 0.1f);
  upload(training.parameters, values);
}

/// Makes steps with gradients that differ between ranks and grow, so that a frozen variance becomes too small. The last
/// three rows have gradients only if all_rows.
void run(Training& training, int first, int last, bool all_rows = true) {
  auto const& rows = training.layout.find("rows");
  std::vector<float> gradient(static_cast<std::size_t>(training.layout.count()));
  for (int t = first; t <= last; ++t) {
    auto const step = static_cast<float>(t), rank = static_cast<float>(group().rank());
    for (std::size_t k = 0; k < gradient.size(); ++k)
      gradient[k] = 0.02f * step * std::sin(0.9f * static_cast<float>(k) + 0.7f * step + 1.1f * rank + 0.3f);
    if (!all_rows) std::fill_n(gradient.begin() + rows.offset + 80, 48, 0.0f);
    training.step(t, gradient);
  }
}

Phase phase(Training const& training) { return training.optimizer->last_report().phase; }

std::string notices(Training const& training) {
  std::string all;
  for (auto const& notice : training.optimizer->last_report().notices) all += notice + "\n";
  return all;
}

}  // namespace

TEST_CASE("a later freeze.step returns to the uncompressed method with momentum and variance") {
  auto const layout = rows_and_more();
  auto const [method, plain] =
      GENERATE(std::pair{Method::onebit_lamb, Method::lamb}, std::pair{Method::onebit_adam, Method::adamw});
  auto const kept = GENERATE(optim::FrozenVariance::shape, optim::FrozenVariance::whole);
  auto config = onebit(method, 3);
  config.frozen_variance = kept;
  Training frozen(layout, config, group());
  start(frozen);
  run(frozen, 1, 6);
  auto const state = frozen.state();

  config.freeze.step = 9;
  Training resumed(layout, config, group());
  resumed.restore(state, download(frozen.parameters));
  CHECK(on_all(!resumed.optimizer->frozen_after() && !resumed.optimizer->freezes_variance()));

  // The variance is scaled by the growth of its sum since the freeze.
  auto variance = state.arrays.at("variance");
  if (kept == optim::FrozenVariance::shape) {
    auto const& growth = state.arrays.at("variance_growth");
    CHECK(on_all(std::ranges::all_of(growth, [](float value) { return value > 1.5f; })));
    for (std::size_t l = 0; l < growth.size(); ++l) {
      auto const& tensor = layout.tensors()[l];
      for (auto k = tensor.offset; k < tensor.offset + tensor.count; ++k)
        variance[static_cast<std::size_t>(k)] *= growth[l];
    }
  }
  CHECK(on_all(resumed.state().arrays.at("variance") == variance));

  auto uncompressed = config;
  uncompressed.method = plain;
  uncompressed.freeze.step.reset();
  Training reference(layout, uncompressed, group());
  auto begin = reference.state();
  begin.arrays["momentum"] = state.arrays.at("momentum");
  begin.arrays["variance"] = variance;
  reference.restore(begin, download(frozen.parameters));
  for (int t = 7; t <= 9; ++t) {
    for (auto* const training : {&resumed, &reference}) run(*training, t, t);
    CHECK(on_all(download(resumed.parameters) == download(reference.parameters)));
    CHECK(on_all(phase(resumed) == Phase::dense));
    auto const told = notices(resumed);
    if (t == 7)
      CHECK_THAT(told,
                 ContainsSubstring(
                     "the freeze after step 3 is undone: dense steps until step 9; compression errors are dropped"));
    else
      CHECK(told.empty());
  }
  auto const ours = resumed.state(), theirs = reference.state();
  for (auto const* name : {"momentum", "variance"}) CHECK(on_all(ours.arrays.at(name) == theirs.arrays.at(name)));
  run(resumed, 10, 10);
  CHECK(on_all(phase(resumed) == Phase::compressed));
  CHECK_THAT(notices(resumed), ContainsSubstring("the variance is frozen after step 9"));
}

TEST_CASE("the first step after a resume on another number of ranks computes a sketch") {
  auto const layout = rows_and_more();
  auto config = onebit(Method::onebit_lamb, 2);
  config.sketch_every = 100;
  Training saved(layout, config, group());
  start(saved);
  run(saved, 1, 4);
  auto const scalars = [](Training const& training) { return training.optimizer->last_report().sent.scalars; };
  std::int64_t const between = scalars(saved);
  auto state = saved.state();
  auto const first_scalars = [&] {
    Training training(layout, config, group());
    training.restore(state, download(saved.parameters));
    run(training, 5, 5);
    std::int64_t const first = scalars(training);
    run(training, 6, 6);
    CHECK(on_all(scalars(training) == between));
    return first;
  };
  CHECK(on_all(state.integers.at("sketch_ranks") == group().size() && first_scalars() == between));
  // State of another number of ranks, and of an earlier version, which did not record the number.
  state.integers["sketch_ranks"] = group().size() + 1;
  CHECK(on_all(group().size() == 1 || first_scalars() > between));
  state.integers.erase("sketch_ranks");
  CHECK(on_all(group().size() == 1 || first_scalars() > between));
}

TEST_CASE("1-bit SGD returns to the dense mean with its momentum") {
  auto const layout = rows_and_more();
  Training frozen(layout, onebit(Method::onebit_sgd, 3), group());
  start(frozen);
  run(frozen, 1, 6);
  auto const state = frozen.state();
  Training resumed(layout, onebit(Method::onebit_sgd, 9), group());
  resumed.restore(state, download(frozen.parameters));
  Training dense(layout, onebit(Method::onebit_sgd, 9), group());  // never compressed anything
  auto begin = dense.state();
  begin.arrays["momentum"] = state.arrays.at("momentum");
  begin.integers["applied_steps"] = 6;
  dense.restore(begin, download(frozen.parameters));
  for (auto* const training : {&resumed, &dense}) run(*training, 7, 12);
  CHECK(on_all(phase(resumed) == Phase::compressed));
  CHECK(on_all(download(resumed.parameters) == download(dense.parameters)));
}

TEST_CASE("in a second dense phase averages of trust ratios continue and factors are reset") {
  auto const layout = rows_and_more();
  auto config = onebit(Method::onebit_lamb, 3);
  config.steer = GENERATE(optim::Steer::variance, optim::Steer::norm);
  Training frozen(layout, config, group());
  start(frozen);
  run(frozen, 1, 6);
  auto const before = frozen.optimizer->last_report().layer("average");
  CHECK(on_all(std::ranges::any_of(frozen.optimizer->last_report().layer("factor"), [](float r) { return r != 1; })));
  config.freeze.step = 9;
  config.steer = optim::Steer::norm;  // may change in a second dense phase
  Training resumed(layout, config, group());
  resumed.restore(frozen.state(), download(frozen.parameters));
  run(resumed, 7, 7);
  auto const& report = resumed.optimizer->last_report();
  bool averaged = true;
  for (std::size_t l = 0; l < before.size(); ++l) {
    double const expected = 0.9 * before[l] + 0.1 * report.layer("trust_ratio")[l];
    averaged = averaged && before[l] > 0 && std::abs(report.layer("average")[l] / expected - 1) < 1e-6;
  }
  CHECK(on_all(averaged));
  CHECK(on_all(std::ranges::all_of(report.layer("factor"), [](float r) { return r == 1; })));
  for (auto const* name : {"root_growth", "worker_error_share", "sign_agreement"})
    CHECK(on_all(std::ranges::all_of(report.layer(name), [](float value) { return std::isnan(value); })));
}

TEST_CASE("the freeze after a second dense phase equals that of a run that never froze before") {
  auto const layout = rows_and_more();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  Training frozen(layout, onebit(method, 3), group());
  start(frozen);
  run(frozen, 1, 6);
  Training resumed(layout, onebit(method, 9), group());
  resumed.restore(frozen.state(), download(frozen.parameters));
  auto const dense = resumed.state();
  for (auto const* name : {"worker_error", "server_error", "units", "variance_growth", "fresh_variance"})
    CHECK(on_all(!dense.arrays.contains(name)));
  Training twin(layout, onebit(method, 9), group());
  twin.restore(dense, download(resumed.parameters));
  for (auto* const training : {&resumed, &twin}) run(*training, 7, 12);
  CHECK(on_all(resumed.optimizer->frozen_after() == 9));
  CHECK(on_all(download(resumed.parameters) == download(twin.parameters)));
  CHECK(on_all(same_bits(resumed.state(), twin.state())));
}

TEST_CASE("rows without a gradient before the freeze learn in a second dense phase") {
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam);
  auto const before = rows_and_more(false), now = rows_and_more();
  Training frozen(before, onebit(method, 3), group());
  start(frozen);
  run(frozen, 1, 6, false);
  Training resumed(now, onebit(method, 9), group());
  resumed.restore(frozen.state(), download(frozen.parameters));
  run(resumed, 7, 12);
  CHECK(on_all(resumed.optimizer->frozen_after() == 9));
  auto const state = resumed.state();
  auto const first = static_cast<std::size_t>(now.find("rows").offset) + 80;
  for (auto const* name : {"momentum", "variance"}) {
    auto const& values = state.arrays.at(name);
    CHECK(on_all(std::all_of(values.begin() + static_cast<std::ptrdiff_t>(first),
                             values.begin() + static_cast<std::ptrdiff_t>(first) + 48,
                             [](float value) { return value != 0; })));
  }
}

TEST_CASE("only a freeze step still to come ends the compressed phase") {
  auto const layout = rows_and_more();
  auto const method = GENERATE(Method::onebit_lamb, Method::onebit_adam, Method::onebit_sgd);
  auto const freeze = GENERATE(std::optional<std::int64_t>(2), std::optional<std::int64_t>(5),
                               std::optional<std::int64_t>(6), std::optional<std::int64_t>());
  Training whole(layout, onebit(method, 3), group());
  start(whole);
  run(whole, 1, 6);
  auto config = onebit(method, freeze);
  config.freeze.latest = 1;
  Training resumed(layout, config, group(), {}, nullptr, 100);  // auto alone would freeze 1-bit SGD at 100 steps
  resumed.restore(whole.state(), download(whole.parameters));
  for (auto* const training : {&whole, &resumed}) run(*training, 7, 9);
  CHECK(on_all(resumed.optimizer->frozen_after() == 3));
  CHECK(on_all(download(whole.parameters) == download(resumed.parameters)));
  CHECK(on_all(same_bits(whole.state(), resumed.state())));
}
