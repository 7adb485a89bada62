// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "tests/model/optim/optimizer_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <limits>

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::WithinRel;
using optim::Method;
using optim::OptimizerConfig;

TEST_CASE("LAMB follows the golden traces") {
  auto const ranks = comm::make_self_communicator();
  auto const layout = golden_layout();
  for (auto const& trace : golden_traces()) {
    Training training(layout, golden_config(trace), *ranks);
    upload(training.parameters, golden_start());
    int const members = trace.at("ranks");
    int t = 0;
    for (auto const& row : trace.at("steps")) {
      ++t;
      std::vector<double> mean(16, 0);
      for (int rank = 0; rank < members; ++rank) {
        auto const g = golden_gradient(t, rank, trace.at("phase"));
        for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += g[k] / members;
      }
      training.step(t, {mean.begin(), mean.end()});
      INFO("ranks " << members << " step " << t);
      CHECK(golden_difference(row, training) < 3e-6);
    }
  }
}

TEST_CASE("LAMB follows the warmup of the 1-bit LAMB paper's trace") {
  // Trust ratios and norms of the weights after the step, two ranks, computed independently of lamb_trace.py.
  auto const ranks = comm::make_self_communicator();
  auto const layout = golden_layout();
  OptimizerConfig config;
  config.clip = 0;
  Training training(layout, config, *ranks);
  upload(training.parameters, golden_start());
  for (int t = 1; t <= 6; ++t) {
    if (t == 2) CHECK_THAT(training.optimizer->last_report().layer("trust_ratio")[0], WithinRel(0.112745255f, 3e-6f));
    if (t == 2) CHECK_THAT(training.optimizer->last_report().layer("trust_ratio")[1], WithinRel(0.0445516847f, 3e-6f));
    if (t == 6) CHECK_THAT(training.optimizer->last_report().layer("trust_ratio")[0], WithinRel(0.14062148f, 3e-6f));
    if (t == 6) CHECK_THAT(training.optimizer->last_report().layer("trust_ratio")[1], WithinRel(0.0555576396f, 3e-6f));
    auto const a = golden_gradient(t, 0, 3), b = golden_gradient(t, 1, 3);
    std::vector<float> mean;
    for (std::size_t k = 0; k < a.size(); ++k) mean.push_back(static_cast<float>((a[k] + b[k]) / 2));
    training.step(t, mean);
    auto const& norms = training.optimizer->last_report().layer("weight_norm");  // before this step
    if (t == 2) CHECK_THAT(norms[0], WithinRel(0.945554159f, 1e-6f));
    if (t == 2) CHECK_THAT(norms[1], WithinRel(0.422650355f, 1e-6f));
    if (t == 6) CHECK_THAT(norms[0], WithinRel(0.947004768f, 1e-6f));
    if (t == 6) CHECK_THAT(norms[1], WithinRel(0.419168748f, 1e-6f));
  }
}

TEST_CASE("the report says what a step did") {
  auto const ranks = comm::make_self_communicator();
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  config.clip = 0.25;
  Training training(layout, config, *ranks);
  training.start();
  CHECK_FALSE(training.optimizer->last_report().skipped);
  training.step(1, training.sample(1, 0));
  auto const report = training.optimizer->last_report();
  double squares = 0;
  for (double const g : training.sample(1, 0)) squares += g * g;
  CHECK_FALSE(report.skipped);
  CHECK(report.phase == optim::Phase::dense);
  CHECK(report.first_bad_layer == -1);
  CHECK(report.sent.all() == 0);
  CHECK_THAT(report.gradient_norm, WithinRel(std::sqrt(squares), 1e-12));
  CHECK_THAT(report.clip_factor, WithinRel(0.25 / std::sqrt(squares), 1e-12));
  CHECK(report.layers.size() == (config.method == Method::lamb ? 3 : 0));
  for (auto const& quantity : report.layers) CHECK(quantity.values.size() == layout.tensors().size());
}

TEST_CASE("a skipped step changes only its count") {
  auto const ranks = comm::make_self_communicator();
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  Training training(layout, config, *ranks);
  training.start();
  // Computed once: when inlined twice, a compiler may contract the formula of the samples differently.
  auto const first = training.sample(1, 0), second = training.sample(2, 0);
  training.step(1, first);
  auto const x = download(training.parameters);
  auto const before = training.state();
  auto gradient = second;
  gradient[static_cast<std::size_t>(layout.find("bias").offset)] = std::numeric_limits<float>::infinity();
  training.step(2, gradient);
  CHECK(training.optimizer->last_report().skipped);
  CHECK(training.optimizer->last_report().first_bad_layer == layout.index_of("bias"));
  CHECK(training.optimizer->last_report().clip_factor == 1);
  CHECK(download(training.parameters) == x);
  auto const after = training.state();
  CHECK(after.arrays == before.arrays);
  CHECK(after.integers.at("applied_steps") == 1);
  CHECK(after.integers.at("skipped_steps") == 1);

  // The same as without the bad gradient: the step number is used again.
  training.step(2, second);
  Training other(layout, config, *ranks);
  other.start();
  other.step(1, first);
  other.step(2, second);
  bool const same = download(training.parameters) == download(other.parameters);
  CHECK(same);
}

TEST_CASE("a restored state continues bit for bit") {
  auto const ranks = comm::make_self_communicator();
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  config.bias_correction = true;
  Training whole(layout, config, *ranks);
  whole.start();
  for (int t = 1; t <= 3; ++t) whole.step(t, whole.sample(t, 0));
  Training resumed(layout, config, *ranks);
  upload(resumed.parameters, download(whole.parameters));
  auto saved = whole.state();
  CHECK(saved.arrays.at("momentum").size() == static_cast<std::size_t>(layout.count()));
  saved.direction = MemoryState::Direction::load;
  resumed.optimizer->visit_state(saved);
  CHECK(resumed.state().arrays == whole.state().arrays);
  CHECK(resumed.state().integers == whole.state().integers);
  for (int t = 4; t <= 6; ++t) {
    whole.step(t, whole.sample(t, 0));
    resumed.step(t, resumed.sample(t, 0));
  }
  CHECK(download(resumed.parameters) == download(whole.parameters));
  CHECK(resumed.state().arrays == whole.state().arrays);
}

TEST_CASE("state bytes agree with a count by hand") {
  auto const ranks = comm::make_self_communicator();
  auto const layout = golden_layout();
  OptimizerConfig config;
  std::int64_t const moments = 2 * 16 * 4, rules = 2 * 8, blocks = 2 * 16 + 3 * 8, squares = 2 * 8, gradient_check = 64;
  CHECK(Training(layout, config, *ranks).optimizer->state_bytes() ==
        moments + rules + blocks + squares + gradient_check + 3 * 2 * 4 + 2 * squares);
  config.method = Method::adamw;
  CHECK(Training(layout, config, *ranks).optimizer->state_bytes() ==
        moments + rules + blocks + squares + gradient_check);
}

TEST_CASE("contradictory bounds of the trust ratio are refused") {
  auto const ranks = comm::make_self_communicator();
  auto const layout = golden_layout();
  OptimizerConfig config;
  config.min_coefficient = 1;
  CHECK_THROWS_AS(Training(layout, config, *ranks), InputError);
}
