// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/byte_bounds.hpp"
#include "app/estimate/forecast.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using Catch::Approx;

namespace {

app::Workload large(optim::Method method) {
  app::Workload work{.parameters = 336226108,
                     .tensors = 398,
                     .sequences = 1024,
                     .step_flops = 1024 * 240.6e9,
                     .steps = 5993,
                     .pass_flops = 40e12,
                     .memory_bandwidth = 700e9,
                     .optimizer = {},
                     .comm = {}};
  work.optimizer.method = method;
  work.optimizer.freeze.step = 1000;
  return work;
}

app::NetworkModel ethernet(double gigabits) {
  return {.ranks_per_node = 4,
          .bandwidth = gigabits * 1e9 / 8,
          .latency = 20e-6,
          .intra_node_bandwidth = 300e9,
          .intra_node_latency = 1e-6,
          .overhead = 1e-6};
}

double moved(std::vector<app::KernelBound> const& kernels) {
  double bytes = 0;
  for (auto const& kernel : kernels) bytes += kernel.moved;
  return bytes;
}

}  // namespace

TEST_CASE("The time of a step is the sum of passes, kernels and network") {
  auto const work = large(optim::Method::onebit_lamb);
  auto const network = ethernet(4.1);
  auto const at = app::forecast(work, network, 64);
  CHECK(at.nodes == 16);
  CHECK(at.dense.passes == Approx(16 * 240.6e9 / 40e12));
  CHECK(at.compressed->passes == at.dense.passes);
  CHECK(at.dense.optimizer == Approx(moved(app::dense_bounds(work.optimizer, work.comm, 64)) * 336226108 / 700e9));
  CHECK(at.compressed->optimizer == Approx(moved(app::compressed_bounds(work.optimizer, 64)) * 336226108 / 700e9));
  double const bits = app::compressed_allreduce_seconds(network, 64, work.parameters, work.comm);
  double const sketches =
      app::dense_mean_seconds(network, 64, 16384 + 2 * 64 + 32 * 398, comm::Wire::fp32, comm::Allreduce::ordered);
  CHECK(at.compressed->network == Approx(bits + sketches));
  CHECK(at.step_gain() == Approx(at.dense.seconds() / at.compressed->seconds()));
  double const w = 1000 / 5993.0;
  CHECK(at.run_gain() == Approx(1 / (w + (1 - w) / at.step_gain())));
}

TEST_CASE("The rank with most sequences determines the time of passes") {
  auto work = large(optim::Method::lamb);
  work.sequences = 10;
  work.step_flops = 10 * 240.6e9;
  CHECK(app::forecast(work, ethernet(10), 4).dense.passes == Approx(3 * 240.6e9 / 40e12));
}

TEST_CASE("At the break-even bandwidth, steps of both phases take equally long") {
  auto const work = large(optim::Method::onebit_lamb);
  for (int const ranks : {8, 64, 1024}) {
    auto const even = app::forecast(work, ethernet(10), ranks).break_even;
    REQUIRE(even);
    auto network = ethernet(10);
    network.bandwidth = *even;
    CHECK(app::forecast(work, network, ranks).step_gain() == Approx(1).epsilon(1e-9));
    network.bandwidth = *even / 2;
    CHECK(app::forecast(work, network, ranks).step_gain() > 1);
    network.bandwidth = *even * 2;
    CHECK(app::forecast(work, network, ranks).step_gain() < 1);
  }
  // With memory this fast, the additional kernels of compression cost nothing: it is faster with every link.
  auto fast = work;
  fast.memory_bandwidth = 1e18;
  fast.comm.hierarchy = comm::Hierarchy::none;
  auto no_latency = ethernet(10);
  no_latency.intra_node_bandwidth = 1e3;
  CHECK_FALSE(app::forecast(fast, no_latency, 64).break_even);
  CHECK_FALSE(app::forecast(work, ethernet(10), 4).break_even);  // one node uses no link
}

TEST_CASE("A method without compression has one phase") {
  auto const at = app::forecast(large(optim::Method::lamb), ethernet(10), 64);
  CHECK_FALSE(at.compressed);
  CHECK_FALSE(at.break_even);
  CHECK(at.dense_share == 1);
  CHECK(at.step_gain() == 1);
  CHECK(at.run_gain() == 1);
}

TEST_CASE("An automatic freeze counts as the latest possible one") {
  auto work = large(optim::Method::onebit_lamb);
  CHECK(work.dense_steps() == 1000);
  work.optimizer.freeze.step.reset();
  CHECK(work.dense_steps() == 1499);  // a quarter of 5993, rounded up
  work.optimizer.freeze.step = 9000;
  CHECK(work.dense_steps() == 5993);
}

TEST_CASE("Forecasts double the nodes as long as every rank has a sequence") {
  auto work = large(optim::Method::onebit_lamb);
  work.sequences = 100;
  std::vector<int> ranks;
  for (auto const& at : app::forecasts(work, ethernet(10), 4096)) ranks.push_back(at.ranks);
  CHECK(ranks == std::vector{4, 8, 16, 32, 64, 100});
  CHECK(app::forecasts(work, ethernet(10), 16).size() == 3);
  CHECK(app::forecasts(work, ethernet(10), 23).back().ranks == 20);
  CHECK(app::forecasts(work, ethernet(10), 4).size() == 1);
  work.sequences = 3;
  CHECK(app::forecasts(work, ethernet(10), 16).empty());
}
