// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/monitor/noise_scale.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/memory_state.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <numeric>
#include <random>

using namespace bellwether;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using optim::noise_sample;
using optim::NoiseScale;
using optim::part_of_micro_batches;
using optim::part_of_ranks;

namespace {

/// Gaussian gradients of sequences in 64 dimensions, with mean G and covariance diag(s^2) of a published example: |G|^2
/// = 0.32539, tr Sigma = 162.34.
struct Gaussian {
  static constexpr int dimensions = 64;

  /// Returns the sum of the gradients of `count` sequences.
  std::vector<double> sum(double count) {
    std::vector<double> g(dimensions);
    for (int k = 0; k < dimensions; ++k)
      g[static_cast<std::size_t>(k)] =
          count * 0.1 * std::cos(1.0 * k) + std::sqrt(count) * (0.5 + k / 32.0) * normal(engine);
    return g;
  }
  static double square(std::vector<double> const& g) { return std::inner_product(g.begin(), g.end(), g.begin(), 0.0); }

  std::mt19937_64 engine{11};
  std::normal_distribution<double> normal{};
};

constexpr double signal = 0.32539, trace = 162.34, trace_of_square = 605.46, signal_in_noise = 0.8302;

struct Moments {
  double sum = 0, squares = 0;
  int count = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++count;
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(squares / count - mean() * mean()); }
};

}  // namespace

TEST_CASE("both noise estimates are unbiased if ranks have floor or ceil of a batch") {
  // 8 ranks with 32 sequences, 4 with 32, 4 with 8; then uneven shares, some of them empty.
  auto const [sequences, ranks] =
      GENERATE(std::pair{256, 8}, std::pair{128, 4}, std::pair{32, 4}, std::pair{11, 4}, std::pair{5, 8});
  int const steps = 20000;
  Gaussian gradients;
  Moments signals, traces;
  for (int step = 0; step < steps; ++step) {
    std::vector<double> mean(Gaussian::dimensions, 0.0);
    double q = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      int const here = sequences / ranks + (rank < sequences % ranks ? 1 : 0);
      auto g = gradients.sum(here);
      for (std::size_t k = 0; k < g.size(); ++k) {
        g[k] *= static_cast<double>(ranks) / sequences;
        mean[k] += g[k] / ranks;
      }
      q += Gaussian::square(g) / ranks;
    }
    auto const sample = noise_sample(part_of_ranks(sequences, ranks), q, Gaussian::square(mean), sequences);
    signals.add(sample.signal);
    traces.add(sample.trace);
  }
  CHECK(std::abs(signals.mean() - signal) < 3 * signals.deviation() / std::sqrt(steps));
  CHECK(std::abs(traces.mean() - trace) < 3 * traces.deviation() / std::sqrt(steps));
  if (sequences % ranks != 0) return;
  double const n = ranks, b = static_cast<double>(sequences) / n;
  CHECK_THAT(traces.deviation(), WithinRel(std::sqrt(2 * trace_of_square / (n - 1)), 0.03));
  CHECK_THAT(signals.deviation(),
             WithinRel(std::sqrt(4 * signal_in_noise / (n * b) + 2 * trace_of_square / (b * b * n * (n - 1))), 0.03));
}

TEST_CASE("the first of several micro-batches serves as the small batch") {
  int const sequences = 48, part = GENERATE(16, 40), steps = 20000;
  Gaussian gradients;
  Moments signals, traces;
  for (int step = 0; step < steps; ++step) {
    auto g = gradients.sum(part);
    auto const rest = gradients.sum(sequences - part);
    for (auto& value : g) value /= sequences;
    double const first = Gaussian::square(g);
    for (std::size_t k = 0; k < g.size(); ++k) g[k] += rest[k] / sequences;
    auto const sample = noise_sample(part_of_micro_batches(sequences, part), first, Gaussian::square(g), sequences);
    signals.add(sample.signal);
    traces.add(sample.trace);
  }
  CHECK(std::abs(signals.mean() - signal) < 3 * signals.deviation() / std::sqrt(steps));
  CHECK(std::abs(traces.mean() - trace) < 3 * traces.deviation() / std::sqrt(steps));
}

TEST_CASE("the ratio of smoothed estimates is the noise scale") {
  Gaussian gradients;
  int const sequences = 256, ranks = 8;
  NoiseScale noise(0.9995);
  for (int step = 0; step < 20000; ++step) {
    std::vector<double> mean(Gaussian::dimensions, 0.0);
    double q = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      auto const g = gradients.sum(32);
      for (std::size_t k = 0; k < g.size(); ++k) mean[k] += g[k] / sequences;
      q += Gaussian::square(g) / (32.0 * 32.0) / ranks;
    }
    noise.add(noise_sample(part_of_ranks(sequences, ranks), q, Gaussian::square(mean), sequences));
  }
  // The smoothed |G|^2 averages about 4000 steps: deviation 0.185 / sqrt(4000) of 0.325, three times which is 2.7 %.
  CHECK_THAT(noise.trace(), WithinRel(trace, 0.005));
  CHECK_THAT(noise.signal(), WithinRel(signal, 0.027));
  CHECK_THAT(noise.simple(), WithinRel(498.92, 0.03));
  CHECK_THAT(noise.critical_batch(), WithinRel(498.92, 0.03));
}

TEST_CASE("noise estimates and their smoothed ratio agree with the twin") {
  auto const golden = nlohmann::json::parse(std::ifstream(test::golden_file("onebit_traces.json"))).at("noise");
  int const ranks = golden.at("ranks"), examples = golden.at("examples");
  NoiseScale noise(golden.at("beta").get<double>());
  REQUIRE(golden.at("steps").size() == 6);
  for (auto const& step : golden.at("steps")) {
    double const square = step.at("square"), spread = step.at("spread");
    auto const sample = noise_sample(part_of_ranks(ranks * examples, ranks), step.at("local_square"),
                                     step.at("mean_square"), ranks * examples);
    // The golden squares have ten digits and nearly cancel.
    CHECK_THAT(sample.trace, WithinRel(spread, 1e-8));
    CHECK_THAT(sample.signal, WithinAbs(square, 1e-8));
    noise.add(sample);
    CHECK_THAT(noise.simple(), WithinRel(step.at("noise_scale").get<double>(), 1e-7));
  }
}

TEST_CASE("unknown noise estimates are NaN and change nothing") {
  CHECK(std::isnan(noise_sample(part_of_ranks(32, 1), 2, 2, 32).trace));  // one rank, one micro-batch
  CHECK(std::isnan(noise_sample(part_of_ranks(1, 4), 8, 2, 1).trace));    // one sequence: one rank has the whole batch
  CHECK(std::isnan(noise_sample(part_of_micro_batches(32, 32), 2, 2, 32).trace));
  double const none = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(noise_sample(part_of_ranks(32, 2), none, 2, 32).signal));
  CHECK(std::isnan(noise_sample(part_of_ranks(32, 2), 2, std::numeric_limits<double>::infinity(), 32).signal));
  // Two ranks with 16 sequences: tr Sigma = 32 (q - Q), |G|^2 = 2 Q - q.
  auto const sample = noise_sample(part_of_ranks(32, 2), 3, 2, 32);
  CHECK_THAT(sample.trace, WithinRel(32.0, 1e-12));
  CHECK_THAT(sample.signal, WithinRel(1.0, 1e-12));

  NoiseScale noise(0.5);
  CHECK(std::isnan(noise.simple()));
  noise.add({});
  CHECK((std::isnan(noise.signal()) && std::isnan(noise.trace()) && std::isnan(noise.critical_batch())));
  noise.add(sample);
  CHECK_THAT(noise.simple(), WithinRel(32.0, 1e-12));
  CHECK(std::isnan(noise.critical_batch()));  // one of the 1 / (1 - beta) = 2 samples that are needed
  noise.add({.signal = 3, .trace = 16});
  CHECK_THAT(noise.signal(), WithinRel((0.25 * 1 + 0.5 * 3) / 0.75, 1e-12));
  CHECK_THAT(noise.critical_batch(), WithinRel((0.25 * 32 + 0.5 * 16) / (0.25 * 1 + 0.5 * 3), 1e-12));
  double const before = noise.critical_batch();
  noise.add(
      {.signal = -100, .trace = 16});  // |G|^2 is below the noise: the scale is unknown, but its mean so far is known
  CHECK(std::isnan(noise.simple()));
  CHECK(noise.critical_batch() == before);
}

TEST_CASE("a restored noise scale continues as if never saved") {
  NoiseScale whole(0.9);
  for (int k = 1; k <= 15; ++k) whole.add({.signal = 1.0 / k, .trace = 3.0 + k});
  test::MemoryState state;
  whole.visit_state(state);
  NoiseScale resumed(0.9);
  state.direction = test::MemoryState::Direction::load;
  resumed.visit_state(state);
  for (auto* const noise : {&whole, &resumed}) noise->add({.signal = 0.3, .trace = 9});
  CHECK(resumed.simple() == whole.simple());
  CHECK(resumed.critical_batch() == whole.critical_batch());
  CHECK(resumed.signal() == whole.signal());
}
