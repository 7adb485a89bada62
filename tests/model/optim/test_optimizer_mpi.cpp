// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective/dense_mean.hpp"
#include "comm/transport/world.hpp"
#include "tests/model/optim/optimizer_fixture.hpp"
#include "tests/support/local_sgd.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstring>
#include <limits>

using namespace bellwether;
using namespace bellwether::test;
using optim::Method;
using optim::OptimizerConfig;

namespace {

/// Returns whether all ranks hold the same bits. Sums halves of every float's words over ranks and compares with P
/// times one's own.
bool equal_on_all_ranks(std::vector<float> const& values) {
  auto& ranks = world().communicator();
  std::vector<double> words(2 * values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &values[k], sizeof bits);
    words[2 * k] = bits;
    words[2 * k + 1] = static_cast<double>(bits) * bits;
  }
  auto sum = words;
  ranks.sum_host(sum, "bellwether::test::compare");
  // The mean of squares equals the square of the mean on every rank only if all words are equal.
  bool equal = true;
  double const size = ranks.size();
  for (std::size_t k = 0; k < values.size(); ++k)
    equal = equal && sum[2 * k] == size * words[2 * k] && sum[2 * k + 1] == size * words[2 * k + 1];
  double differing = equal ? 0 : 1;
  ranks.sum_host({&differing, 1}, "bellwether::test::compare");
  return differing == 0;
}

}  // namespace

TEST_CASE("LAMB over ranks follows the golden trace of that many ranks") {
  auto& ranks = world().communicator();
  auto const layout = golden_layout();
  auto const traces = golden_traces();
  auto const& trace = traces.at(static_cast<std::size_t>(ranks.size() - 1));
  REQUIRE(trace.at("ranks") == ranks.size());
  Training training(layout, golden_config(trace), ranks);
  upload(training.parameters, golden_start());
  int t = 0;
  for (auto const& row : trace.at("steps")) {
    ++t;
    auto const g = golden_gradient(t, ranks.rank(), trace.at("phase"));
    training.step(t, {g.begin(), g.end()});
    CHECK(golden_difference(row, training) < 3e-6);
  }
}

TEST_CASE("parameters, state and report are bitwise equal on all ranks, and the bytes are as predicted") {
  auto& ranks = world().communicator();
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  config.clip = 0.5;
  comm::CommConfig comm;
  comm.dense_wire = GENERATE(comm::Wire::fp32, comm::Wire::bf16);
  Training training(layout, config, ranks, comm);
  training.start();
  for (int t = 1; t <= 4; ++t) {
    training.step(t, training.sample(t, ranks.rank()));
    CHECK(equal_on_all_ranks(download(training.parameters)));
    auto const& report = training.optimizer->last_report();
    CHECK(report.sent.exchange == comm::DenseMean::predicted_bytes(layout.count(), ranks.rank(), ranks.size(),
                                                                   comm.dense_wire, comm.allreduce));
    CHECK(report.sent.scalars == comm::DenseMean::predicted_bytes(ranks.size(), ranks.rank(), ranks.size(),
                                                                  comm::Wire::fp32, comm::Allreduce::ordered));
    CHECK(report.sent.all() == training.optimizer->predicted_bytes(optim::Phase::dense)->all());
    double local = 0;
    for (int rank = 0; rank < ranks.size(); ++rank)
      for (float const g : training.sample(t, rank)) local += static_cast<double>(g) * g / ranks.size();
    CHECK(std::abs(report.mean_square / (report.gradient_norm * report.gradient_norm) - 1) < 1e-14);
    CHECK((ranks.size() > 1 ? std::abs(report.local_square / local - 1) < 1e-6 : std::isnan(report.local_square)));
    CHECK(equal_on_all_ranks({static_cast<float>(report.gradient_norm), static_cast<float>(report.clip_factor)}));
  }
  for (auto const& [name, values] : training.state().arrays) CHECK(equal_on_all_ranks(values));
}

TEST_CASE("several ranks do what one rank does with the mean gradient") {
  auto& ranks = world().communicator();
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  config.clip = 0.5;
  Training training(layout, config, ranks);
  training.start();
  auto const n = static_cast<std::size_t>(layout.count());
  auto const start = download(training.parameters);
  ReferenceState state{{start.begin(), start.end()}, std::vector<double>(n, 0), std::vector<double>(n, 0)};
  for (int t = 1; t <= 4; ++t) {
    std::vector<double> mean(n, 0);
    for (int rank = 0; rank < ranks.size(); ++rank) {
      auto const g = training.sample(t, rank);
      for (std::size_t k = 0; k < n; ++k) mean[k] += static_cast<double>(g[k]) / ranks.size();
    }
    auto const reference =
        (config.method == Method::lamb ? reference_lamb : reference_adamw)(layout, config, t, 0.01, mean, state);
    training.step(t, training.sample(t, ranks.rank()));
    CHECK(std::abs(training.optimizer->last_report().gradient_norm / reference.norm - 1) < 1e-6);
    // Where the mean nearly cancels, rounding decides m / sqrt(v), so compare only the norm of the difference.
    auto const x = download(training.parameters);
    double difference = 0, moved = 0;
    for (std::size_t k = 0; k < n; ++k) {
      difference += (x[k] - state.x[k]) * (x[k] - state.x[k]);
      moved += (start[k] - state.x[k]) * (start[k] - state.x[k]);
    }
    CHECK(std::sqrt(difference) < 1e-4 * std::sqrt(moved));
  }
}

TEST_CASE("an infinity on one rank makes all ranks skip without a change of state") {
  auto& ranks = world().communicator();
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw);
  comm::CommConfig comm;
  comm.dense_wire = GENERATE(comm::Wire::fp32, comm::Wire::bf16);
  Training training(layout, config, ranks, comm);
  training.start();
  training.step(1, training.sample(1, ranks.rank()));
  auto const x = download(training.parameters);
  auto const state = training.state();
  auto gradient = training.sample(2, ranks.rank());
  if (ranks.rank() == ranks.size() - 1)
    gradient[static_cast<std::size_t>(layout.find("block").offset) + 17] = std::numeric_limits<float>::infinity();
  training.step(2, gradient);
  CHECK(training.optimizer->last_report().skipped);
  CHECK(training.optimizer->last_report().first_bad_layer == layout.index_of("block"));
  CHECK(training.optimizer->last_report().bad_rank == ranks.size() - 1);
  CHECK(download(training.parameters) == x);
  CHECK(training.state().arrays == state.arrays);
}

TEST_CASE("if several gradients are not finite, the first rank and its first tensor are named") {
  auto& ranks = world().communicator();
  if (ranks.size() < 3) return;
  auto const layout = awkward_layout();
  OptimizerConfig config;
  config.method = GENERATE(Method::lamb, Method::adamw, Method::onebit_lamb);
  Training training(layout, config, ranks);
  training.start();
  auto gradient = training.sample(1, ranks.rank());
  auto const spoil = [&](char const* tensor, float value) {
    gradient[static_cast<std::size_t>(layout.find(tensor).offset)] = value;
  };
  // The mean's first bad tensor is rank 2's.
  if (ranks.rank() == 1) spoil("block", std::numeric_limits<float>::quiet_NaN());
  if (ranks.rank() == 2) spoil("matrix", -std::numeric_limits<float>::infinity());
  REQUIRE(layout.index_of("matrix") < layout.index_of("block"));
  training.step(1, gradient);
  auto const& report = training.optimizer->last_report();
  CHECK(report.skipped);
  CHECK(report.bad_rank == 1);
  CHECK(report.first_bad_layer == layout.index_of("block"));
}

TEST_CASE("if only the sum of gradients is not finite, a tensor is named but no rank") {
  auto& ranks = world().communicator();
  if (ranks.size() == 1) return;
  auto const layout = awkward_layout();
  Training training(layout, {}, ranks);
  training.start();
  auto gradient = training.sample(1, ranks.rank());
  gradient[static_cast<std::size_t>(layout.find("block").offset)] = std::numeric_limits<float>::max();
  training.step(1, gradient);
  auto const& report = training.optimizer->last_report();
  CHECK(report.skipped);
  CHECK(report.bad_rank == -1);
  CHECK(report.first_bad_layer == layout.index_of("block"));
}

TEST_CASE("the consensus of replicated parameters is the parameters") {
  auto& ranks = world().communicator();
  auto const layout = awkward_layout();
  Training training(layout, {}, ranks);
  training.start();
  training.step(1, training.sample(1, ranks.rank()));
  Arena<> out(layout, "bellwether::test::consensus");
  CHECK(training.optimizer->replication() == optim::Replication::replicated);
  training.optimizer->consensus(training.exec, training.parameters, out);
  training.exec.fence("bellwether::test::consensus");
  CHECK(download(out) == download(training.parameters));
}

TEST_CASE("local SGD has different parameters on each rank and one consensus") {
  auto& ranks = world().communicator();
  auto const layout = awkward_layout();
  Training training(layout, {}, ranks);
  training.optimizer = std::make_unique<LocalSgd>(optim::OptimizerContext{layout, {ranks}, training.exec, {}}, 3);
  training.start();
  CHECK(training.optimizer->replication() == optim::Replication::per_rank);
  for (int t = 1; t <= 3; ++t) {
    training.step(t, training.sample(t, ranks.rank()));
    training.exec.fence("bellwether::test::step");
    bool const equal = equal_on_all_ranks(download(training.parameters));
    CHECK(equal == (t == 3 || ranks.size() == 1));
    Arena<> out(layout, "bellwether::test::consensus");
    training.optimizer->consensus(training.exec, training.parameters, out);
    training.exec.fence("bellwether::test::consensus");
    CHECK(equal_on_all_ranks(download(out)));
  }
}
