// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/freeze.hpp"
#include "model/optim/monitor/gradient_sketch.hpp"
#include "model/optim/rules/compressed_formulas.hpp"
#include "model/optim/strategies/one_bit/variance_growth.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/memory_state.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>

using namespace bellwether;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace {

json golden(char const* part) { return json::parse(std::ifstream(test::golden_file("onebit_traces.json"))).at(part); }

ParameterLayout one_tensor(Index count) {
  ParameterLayout layout;
  layout.add({.name = "first", .shape = {count / 2}});
  layout.add({.name = "second", .shape = {count - count / 2}});
  return layout;
}

/// The scalars of one rank among `ranks`.
template <class Space>
struct Sketch {
  Sketch(Index n, Index columns, int ranks)
      : layout(one_tensor(n)),
        table(layout),
        at{columns, ranks},
        gradient("gradient", static_cast<std::size_t>(n)),
        partial("partial", static_cast<std::size_t>(optim::sketch_parts * columns)),
        scalars("scalars", static_cast<std::size_t>(at.count())),
        proportion("proportion", 1),
        squares("squares", static_cast<std::size_t>(optim::SketchStrips<Space>::squares(columns))),
        gradient_check("gradient_check", 1) {
    Kokkos::deep_copy(proportion, 1.0f);
  }

  std::vector<float> operator()(std::vector<float> const& g, std::uint64_t seed, std::int64_t step, int rank = 0) {
    Kokkos::deep_copy(gradient, Kokkos::View<float const*, Kokkos::HostSpace>(g.data(), g.size()));
    optim::sketch_gradient(exec, table,
                           {.values = gradient.data(),
                            .count = layout.count(),
                            .rank = rank,
                            .key = random_key(seed, Purpose::sketch),
                            .step = step},
                           at, {.partial = partial, .squares = squares}, scalars);
    exec.fence("bellwether::test::sketched");
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), scalars);
    return {host.data(), host.data() + host.extent(0)};
  }
  optim::GradientCheck judge(std::vector<float> const& mean, double clip) {
    Kokkos::deep_copy(scalars, Kokkos::View<float const*, Kokkos::HostSpace>(mean.data(), mean.size()));
    optim::check_scalars(exec, at, {.clip = clip}, scalars, proportion, gradient_check);
    exec.fence("bellwether::test::judged");
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gradient_check)(0);
  }

  Space exec;
  ParameterLayout layout;
  BlockTable<Space> table;
  optim::ScalarLayout at;
  Vec<float, Space> gradient, partial, scalars, proportion;
  Vec<double, Space> squares;
  Vec<optim::GradientCheck, Space> gradient_check;
};

}  // namespace

TEST_CASE("signs of the sketch agree with the twin") {
  auto const sketch = golden("sketch");
  for (auto const& row : sketch.at("signs")) {
    auto const first = row.at("first").get<std::int64_t>();
    auto const key = random_key(std::stoull(row.at("seed").get<std::string>()), Purpose::sketch);
    auto const words = optim::sketch_signs(key, row.at("step").get<std::int64_t>(), first / optim::sign_group);
    CHECK(words.x[first % optim::sign_group / 32] == std::stoul(row.at("word").get<std::string>(), nullptr, 16));
  }
}

TEMPLATE_LIST_TEST_CASE("the mean of the ranks' sketches agrees with the twin", "", test::Spaces) {
  auto const wanted = golden("sketch").at("fold");
  int const ranks = wanted.at("ranks");
  Index const count = wanted.at("count"), columns = wanted.at("columns");
  Sketch<TestType> sketch(count, columns, ranks);
  std::vector<double> mean(static_cast<std::size_t>(columns), 0.0);
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<float> g;
    for (Index k = 0; k < count; ++k)
      g.push_back(static_cast<float>(0.1 * std::sin(0.3 * static_cast<double>(k) + rank)));
    auto const scalars = sketch(g, std::stoull(wanted.at("seed").get<std::string>()), wanted.at("step"), rank);
    for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += scalars[c] / static_cast<double>(ranks);
  }
  auto const expected = wanted.at("column").get<std::vector<double>>();
  double squared_norm = 0;
  for (std::size_t c = 0; c < mean.size(); ++c) {
    CHECK_THAT(mean[c], WithinAbs(expected[c], 1e-6));
    squared_norm += mean[c] * mean[c];
  }
  CHECK_THAT(squared_norm, WithinRel(wanted.at("squared_norm").get<double>(), 1e-5));
}

TEMPLATE_LIST_TEST_CASE("the sketch's norm is unbiased and deviates as expected", "", test::Spaces) {
  constexpr Index count = 20000, columns = 256;
  Sketch<TestType> sketch(count, columns, 2);
  std::vector<float> g;
  double exact = 0;
  for (Index k = 0; k < count; ++k) {
    g.push_back(0.01f * std::sin(0.37f * static_cast<float>(k)));
    exact += static_cast<double>(g.back()) * g.back();
  }
  constexpr int draws = 400;
  double mean = 0, square = 0;
  for (int step = 1; step <= draws; ++step) {
    auto const scalars = sketch(g, 11, step);
    double norm = 0;
    for (Index c = 0; c < columns; ++c)
      norm += static_cast<double>(scalars[static_cast<std::size_t>(c)]) * scalars[static_cast<std::size_t>(c)];
    mean += norm / exact / draws;
    square += norm / exact * norm / exact / draws;
  }
  double const deviation = std::sqrt(square - mean * mean), expected = std::sqrt(2.0 / columns);
  CHECK(std::abs(mean - 1) < 3 * expected / std::sqrt(draws));
  CHECK(std::abs(deviation / expected - 1) < 0.2);
}

TEMPLATE_LIST_TEST_CASE("a sketch agrees with its definition, also without columns", "", test::Spaces) {
  // First more rows than parts, and columns that do not fill a device's last strip. Then more rows in a part than a
  // warp has lanes, each of which draws for one row. Then few elements.
  auto const [count, columns] = GENERATE(table<Index, Index>(
      {{2560 * 70 + 37, 2560}, {2560 * 70 + 37, 0}, {128 * 32 * 70 + 37, 128}, {300, 1280}, {50, 0}}));
  CAPTURE(count, columns);
  Sketch<TestType> sketch(count, columns, 3);
  std::vector<float> g;
  // Multiples of 1 / 64, so that sums are exact.
  for (Index k = 0; k < count; ++k) g.push_back(std::round(64 * std::sin(0.61f * static_cast<float>(k))) / 64);
  std::int64_t const step = (std::int64_t{5} << 32) + 9;
  auto const key = random_key(23, Purpose::sketch);
  std::vector<double> expected(static_cast<std::size_t>(columns), 0.0);
  double squares = 0;
  for (Index k = 0; k < count; ++k) {
    double const value = g[static_cast<std::size_t>(k)];
    squares += value * value;
    if (columns == 0) continue;
    auto const word = optim::sketch_signs(key, step, k / 128).x[k % 128 / 32];
    expected[static_cast<std::size_t>(k % columns)] += (word << (k % 32) & 0x80000000u) != 0 ? value : -value;
  }
  auto const scalars = sketch(g, 23, step, 1);
  for (std::size_t c = 0; c < expected.size(); ++c) CHECK(static_cast<double>(scalars[c]) == expected[c]);
  std::vector<float> const rest(scalars.begin() + columns, scalars.end());
  CHECK(rest[0] == 0);
  CHECK_THAT(rest[1], WithinRel(static_cast<float>(std::sqrt(squares)), 1e-6f));
  CHECK(std::vector<float>(rest.begin() + 2, rest.end()) == std::vector<float>{0, 0, 0, 0});
  // The first tensor that is not finite is named, whichever thread finds it first.
  g[static_cast<std::size_t>(count - 1)] = std::numeric_limits<float>::infinity();
  CHECK(sketch(g, 23, step, 1)[static_cast<std::size_t>(sketch.at.bad(1))] == 2);
  g[static_cast<std::size_t>(count / 2 - 1)] = std::numeric_limits<float>::quiet_NaN();
  CHECK(sketch(g, 23, step, 1)[static_cast<std::size_t>(sketch.at.bad(1))] == 1);
}

TEMPLATE_LIST_TEST_CASE("the gradient check works without a mean gradient", "", test::Spaces) {
  Sketch<TestType> sketch(1000, 128, 3);
  std::vector<float> mean(static_cast<std::size_t>(sketch.at.count()), 0.0f);
  mean[3] = 0.3f;
  mean[77] = -0.4f;
  for (int rank = 0; rank < 3; ++rank)
    mean[static_cast<std::size_t>(sketch.at.norm(rank))] = static_cast<float>(rank + 1) / 3;
  auto const sketched = sketch.judge(mean, 0.25);
  CHECK_THAT(sketched.norm, WithinRel(0.5, 1e-6));
  CHECK_THAT(sketched.clip_factor, WithinRel(0.5, 1e-6));
  CHECK_THAT(sketched.local_square, WithinRel(14.0 / 3, 1e-6));
  CHECK_THAT(sketched.mean_square, WithinRel(0.25, 1e-6));
  CHECK_FALSE(sketched.skip);
  CHECK(sketch.judge(mean, 0).clip_factor == 1);

  // Without a sketch: the ranks' norms times the last sketch's proportion, if there was one.
  Sketch<TestType> without(1000, 0, 3);
  std::vector<float> norms(mean.begin() + 128, mean.end());
  auto const local = without.judge(norms, 0.25);
  CHECK_THAT(local.norm, WithinRel(std::sqrt(14.0 / 3), 1e-6));
  CHECK(std::isnan(local.mean_square));
  Kokkos::deep_copy(without.proportion, sketch.proportion);
  for (auto& norm : norms) norm *= 2;
  auto const between = without.judge(norms, 0.25);
  CHECK_THAT(between.norm, WithinRel(1.0, 1e-6));
  CHECK_THAT(between.clip_factor, WithinRel(0.25, 1e-6));
  CHECK_THAT(between.local_square, WithinRel(4 * 14.0 / 3, 1e-6));
  CHECK(std::isnan(between.mean_square));

  // Not finite: names the rank and its first tensor.
  std::vector<float> g(1000, 0.1f);
  g[700] = std::numeric_limits<float>::quiet_NaN();
  auto scalars = sketch(g, 1, 1, 2);
  for (auto& value : scalars) value /= 3;
  auto const bad = sketch.judge(scalars, 0.25);
  CHECK(bad.skip == 1);
  CHECK(bad.bad_rank == 2);
  CHECK(bad.bad_tensor == 1);
  CHECK(bad.clip_factor == 1);
  CHECK((std::isnan(bad.local_square) && std::isnan(bad.mean_square)));
}

TEMPLATE_LIST_TEST_CASE("finite elements whose sum overflows skip the step", "", test::Spaces) {
  // 400 elements share a column of the sketch.
  for (float const size : {1e35f, 3e38f}) {
    Sketch<TestType> sketch(128 * 400, 128, 2);
    auto scalars = sketch(std::vector<float>(128 * 400, size), 3, 1);
    for (auto& value : scalars) value /= 2;
    auto const gradient_check = sketch.judge(scalars, 0.25);
    bool const overflows = size > 1e36f;
    CHECK(gradient_check.skip == (overflows ? 1 : 0));
    CHECK((gradient_check.bad_rank == -1 && gradient_check.bad_tensor == -1));
    if (overflows) continue;
    CHECK(std::isfinite(gradient_check.norm));
    CHECK_THAT(gradient_check.clip_factor, WithinRel(0.25 / gradient_check.norm, 1e-6));
  }
}

TEST_CASE("the chosen freeze agrees with the twin") {
  auto const freeze = golden("freeze");
  for (auto const& row : freeze.at("cases")) {
    INFO(row.at("name").get<std::string>());
    optim::OptimizerConfig config;
    config.method = optim::Method::onebit_lamb;
    config.beta2 = row.at("beta2");
    config.coefficient_beta = row.at("coefficient_beta");
    std::int64_t const steps = row.at("steps"), latest = row.at("latest");
    // The twin has a latest step; here it is a share of all steps.
    std::int64_t const all = 4 * latest;
    config.freeze.latest = 0.25;
    optim::FreezePoint point(config, all, row.at("rate_warmup_steps"));
    double const tau = row.at("tau"), growth = row.at("growth"), swap = row.at("swap");
    Exec const exec;
    // Sums of two tensors, with elements in one block and in two.
    ParameterLayout layout;
    layout.add({.name = "one", .shape = {3}});
    layout.add({.name = "two", .shape = {reduce_block + 1}});
    BlockTable<Exec> const blocks(layout);
    optim::VarianceDrift variance_drift(blocks);
    Vec<float> const variance("variance", static_cast<std::size_t>(layout.count()));
    double v[2] = {};
    auto const drift = [&](double factor) {
      auto const host = Kokkos::create_mirror_view(variance);
      host(0) = host(1) = static_cast<float>(v[0] / 2);
      host(3) = static_cast<float>(v[1] / 4);
      host(3 + reduce_block) = static_cast<float>(3 * v[1] / 4);
      Kokkos::deep_copy(variance, host);
      return variance_drift.since_last(exec, variance.data(), factor);
    };
    std::int64_t frozen_after = -1, near = 0;
    auto const& checks = row.at("checks");  // each with a change; the first look at the variance has none
    std::size_t checked = 0;
    for (std::int64_t t = 1; t <= steps + 1 && frozen_after < 0; ++t) {
      near = point.near(t) ? near + 1 : 0;
      // Call twice, as after a skipped step: the answer must not change.
      bool const first = point.reached(t, drift);
      CHECK(first == point.reached(t, drift));
      if (auto const found = point.last_check(); found.step == t && !std::isnan(found.change)) {
        REQUIRE(checked < checks.size());
        auto const& check = checks[checked++];
        test::MemoryState state;
        point.visit_state(state);
        CHECK(check.at("step") == t - 1);
        CHECK(check.at("in_a_row") == state.integers.at("freeze_calm"));
        CHECK_THAT(found.change, WithinAbs(check.at("change").get<double>(), 1e-6));
      }
      if (first) frozen_after = t - 1;
      auto const time = static_cast<double>(t);
      double const square = (1 + 3 * std::exp(-time / tau)) * std::exp(growth * time), share = std::exp(-time / swap);
      v[0] = config.beta2 * v[0] + (1 - config.beta2) * square * (1 - 0.9 * share);
      v[1] = config.beta2 * v[1] + (1 - config.beta2) * square * (0.5 + 0.9 * share);
    }
    CHECK(checked == checks.size());
    CHECK(frozen_after == (row.at("step").is_null() ? -1 : row.at("step").get<std::int64_t>()));
    // near() was true for the ten steps before the freeze and the step after it.
    if (frozen_after > 0) CHECK(near >= std::min<std::int64_t>(frozen_after, optim::freeze_surroundings) + 1);
  }
}

TEST_CASE("a fixed freeze comes at its step") {
  optim::OptimizerConfig config;
  config.method = GENERATE(optim::Method::onebit_lamb, optim::Method::onebit_adam, optim::Method::onebit_sgd);
  config.freeze.step = 7;
  optim::FreezePoint point(config, 100, 10);
  for (std::int64_t t = 1; t <= 7; ++t) CHECK_FALSE(point.reached(t, [](double) { return 0.0; }));
  config.freeze.step = 30;
  optim::FreezePoint const later(config, 100, 10);
  for (std::int64_t t = 1; t <= 40; ++t) CHECK(later.near(t) == (t > 20 && t <= 31));
  CHECK(point.reached(8, [](double) { return 0.0; }));
}

TEST_CASE("factors are clamped to their bounds, then to the band around the last one") {
  optim::FactorBounds const bounds{.least = 0.5, .most = 4, .threshold = 0.1};
  using optim::next_factor;
  CHECK(next_factor(1.05, 1, 1, false, 1, bounds) == 1.05);
  CHECK(next_factor(3, 1, 1, false, 1, bounds) == 1.1);
  CHECK(next_factor(0.2, 1, 1, false, 1, bounds) == 0.9);
  CHECK(next_factor(9, 1, 1, false, 3.9, bounds) == 4);
  CHECK(next_factor(0.1, 1, 1, false, 0.52, bounds) == 0.5);
  // Half of the update is decay, so half of the excess counts.
  CHECK_THAT(next_factor(1.08, 1, 2, true, 1, bounds), WithinRel(1.04, 1e-12));
  CHECK(next_factor(1.08, 3, 2, true, 1, bounds) == 1.08);
  CHECK(next_factor(0.7, 0, 2, true, 1, bounds) == 1);  // an update of decay only is not scaled
  CHECK(next_factor(0.95, 0, 0, true, 1, bounds) == 0.95);
}

TEST_CASE("Nesterov's momentum looks one gradient ahead") {
  double const beta = 0.9, before = -0.3, gradient = 2.5, now = beta * before + (1 - beta) * gradient;
  CHECK(optim::led_momentum(now, before, 0.0) == now);
  CHECK_THAT(optim::led_momentum(now, before, beta), WithinRel(beta * now + (1 - beta) * gradient, 1e-15));
}

TEST_CASE("averages of a constant ratio approach it without bias correction") {
  double average = 0;
  for (int k = 1; k <= 50; ++k) {
    average = optim::next_average(average, 0.2, 0.9);
    CHECK_THAT(average, WithinRel(0.2 * (1 - std::pow(0.9, k)), 1e-12));
  }
}
