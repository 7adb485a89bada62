// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/byte_bounds.hpp"

#include "core/system/error.hpp"
#include "model/optim/registry.hpp"

#include <numeric>

namespace bellwether::app {

namespace {

void append(std::vector<KernelBound>& to, std::vector<KernelBound> const& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::vector<KernelBound> dense_bounds(optim::OptimizerConfig const& optimizer, comm::CommConfig const& comm,
                                      int ranks) {
  std::vector<KernelBound> kernels;
  double const P = ranks;
  if (ranks > 1 && comm.allreduce == comm::Allreduce::ordered) {
    bool const half = comm.dense_wire == comm::Wire::bf16;
    double const width = static_cast<double>(bytes_of(comm.dense_wire));
    if (half) kernels.push_back({"bellwether::comm::round_to_wire", 4 + width, 4 + width});
    kernels.push_back({"bellwether::comm::mean_in_rank_order", width * (P + 1) / P, width * (P + 1) / P});
    if (half) kernels.push_back({"bellwether::comm::read_from_wire", 4 + width, 4 + width});
  }
  kernels.push_back({"bellwether::optim::gradient_squares", 4, 4});
  append(kernels, rule_of(optimizer.method).dense_kernels());
  return kernels;
}

std::vector<KernelBound> compressed_bounds(optim::OptimizerConfig const& optimizer, int ranks) {
  auto const& strategy = strategy_of(optimizer.method);
  require(strategy.traits.compresses, "the optimizer method has no compressed phase");
  auto kernels = strategy.exchange_kernels(optimizer, ranks);
  append(kernels, rule_of(optimizer.method).decoded_kernels(strategy.decoded_mean(optimizer, ranks)));
  return kernels;
}

double least_bytes(std::vector<KernelBound> const& kernels) {
  return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                         [](double sum, KernelBound const& kernel) { return sum + kernel.least; });
}

double specified_bytes(int ranks) {
  optim::OptimizerConfig paper;
  paper.method = optim::Method::onebit_lamb;
  paper.exchange = optim::Exchange::momentum;
  paper.steer = optim::Steer::variance;
  paper.unify = optim::Unify::layer;
  return least_bytes(compressed_bounds(paper, ranks));
}

}  // namespace bellwether::app
