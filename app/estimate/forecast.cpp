// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/forecast.hpp"

#include "app/estimate/byte_bounds.hpp"
#include "model/optim/sent_bytes.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::app {
namespace {

double passes_seconds(Workload const& work, int ranks) {
  auto const most = (work.sequences + ranks - 1) / ranks;
  return work.step_flops * static_cast<double>(most) / static_cast<double>(work.sequences) / work.pass_flops;
}

double kernels_seconds(Workload const& work, std::vector<KernelBound> const& kernels) {
  double bytes = 0;
  for (auto const& kernel : kernels) bytes += kernel.moved;
  return bytes * static_cast<double>(work.parameters) / work.memory_bandwidth;
}

double scalars_seconds(NetworkModel const& network, int ranks, std::int64_t count) {
  return dense_mean_seconds(network, ranks, count, comm::Wire::fp32, comm::Allreduce::ordered);
}

StepForecast dense_step(Workload const& work, NetworkModel const& network, int ranks) {
  return {.passes = passes_seconds(work, ranks),
          .optimizer = kernels_seconds(work, dense_bounds(work.optimizer, work.comm, ranks)),
          .network = dense_mean_seconds(network, ranks, work.parameters, work.comm.dense_wire, work.comm.allreduce) +
                     scalars_seconds(network, ranks, ranks)};
}

StepForecast compressed_step(Workload const& work, NetworkModel const& network, int ranks) {
  return {.passes = passes_seconds(work, ranks),
          .optimizer = kernels_seconds(work, compressed_bounds(work.optimizer, ranks)),
          .network = compressed_allreduce_seconds(network, ranks, work.parameters, work.comm) +
                     scalars_seconds(network, ranks, optim::scalars_after_freeze(work.optimizer, work.tensors, ranks))};
}

/// Returns Forecast::break_even by bisection of the exponent: the seconds that compression saves fall with the
/// bandwidth.
std::optional<double> break_even(Workload const& work, NetworkModel network, int ranks) {
  auto const spared = [&](double exponent) {
    network.bandwidth = std::exp2(exponent);
    return dense_step(work, network, ranks).seconds() - compressed_step(work, network, ranks).seconds();
  };
  double slow = 0, fast = 60;  // exponents of 2: 1 and 10^18 bytes per second
  if (spared(fast) > 0) return std::nullopt;
  for (int i = 0; i < 60; ++i) (spared((slow + fast) / 2) > 0 ? slow : fast) = (slow + fast) / 2;
  return std::exp2(slow);
}

}  // namespace

std::int64_t Workload::dense_steps() const {
  if (!optim::compresses(optimizer.method)) return steps;
  return std::min(steps, optimizer.freeze.step.value_or(optimizer.freeze.latest_step(steps)));
}

Forecast forecast(Workload const& work, NetworkModel const& network, int ranks) {
  Forecast result{.ranks = ranks,
                  .nodes = std::max(1, ranks / network.ranks_per_node),
                  .dense = dense_step(work, network, ranks),
                  .compressed = {},
                  .dense_share = static_cast<double>(work.dense_steps()) / static_cast<double>(work.steps),
                  .break_even = {}};
  if (!optim::compresses(work.optimizer.method)) return result;
  result.compressed = compressed_step(work, network, ranks);
  if (result.nodes > 1) result.break_even = break_even(work, network, ranks);
  return result;
}

std::vector<Forecast> forecasts(Workload const& work, NetworkModel const& network, std::int64_t most) {
  std::int64_t const in_node = network.ranks_per_node;
  std::int64_t const last = std::min(most, work.sequences) / in_node * in_node;
  std::vector<Forecast> results;
  for (std::int64_t ranks = in_node; ranks < last; ranks *= 2)
    results.push_back(forecast(work, network, static_cast<int>(ranks)));
  if (last > 0) results.push_back(forecast(work, network, static_cast<int>(last)));
  return results;
}

}  // namespace bellwether::app
