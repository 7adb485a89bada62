// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck_warnings.hpp"

#include "comm/world.hpp"
#include "input/deck.hpp"

#include <cmath>

namespace bellwether::app {
namespace {

using optim::Method;

/// Steps after which an exponential average has mostly forgotten where it began: 1/(1 - beta).
std::int64_t memory_of(double beta) {
  // 1 - 0.9 is a little less than 0.1: ten steps are its memory, not eleven.
  return static_cast<std::int64_t>(std::ceil(1.0 / (1.0 - beta) * (1.0 - 1e-9)));
}

char const* uncompressed(Method method) {
  switch (method) {
    case Method::onebit_lamb:
      return "plain LAMB to the end";
    case Method::onebit_adam:
      return "plain Adam to the end";
    default:
      return "plain SGD with momentum to the end";
  }
}

/// Of a freeze at a given step.
std::vector<std::string> freeze_warnings(input::Deck const& deck) {
  auto const& optimizer = deck.optimizer;
  auto const& schedule = deck.schedule;
  bool const keeps_variance = optimizer.method == Method::onebit_lamb || optimizer.method == Method::onebit_adam;
  bool const compresses = keeps_variance || optimizer.method == Method::onebit_sgd;
  if (!compresses || !optimizer.freeze.step) return {};
  auto const freeze = *optimizer.freeze.step;
  auto const subject = "optimizer.freeze.step: " + std::to_string(freeze) + ", but ";
  if (freeze >= schedule.steps)
    return {subject + "schedule.steps is " + std::to_string(schedule.steps) + ": nothing is ever compressed, " +
            uncompressed(optimizer.method)};
  std::vector<std::string> texts;
  if (auto const memory = memory_of(optimizer.beta2); keeps_variance && freeze < memory)
    texts.push_back(subject + "optimizer.beta2 averages the variance over " + std::to_string(memory) +
                    " steps: the one that is kept has not settled");
  if (auto const memory = memory_of(optimizer.coefficient_beta);
      optimizer.method == Method::onebit_lamb && freeze < memory)
    texts.push_back(subject + "optimizer.coefficient_beta averages trust ratios over " + std::to_string(memory) +
                    " steps: those that are kept have not settled");
  // LEGW leaves the number of warmup steps as it is: the baseline's.
  if (freeze < schedule.warmup_steps)
    texts.push_back(subject + "the rate rises until step " + std::to_string(schedule.warmup_steps) +
                    " (schedule.warmup_steps): gradients change most while it does");
  return texts;
}

}  // namespace

std::vector<std::string> deck_warnings(input::Deck const& deck) {
  auto texts = freeze_warnings(deck);
  if (deck.comm.allreduce == comm::Allreduce::library)
    texts.push_back(
        "comm.allreduce: library: how sums are formed is left to MPI, so that ranks may differ in their last bits, a "
        "repeated run may too, and the bytes counted are not those on the network");
  return texts;
}

std::vector<std::string> node_warnings(input::Deck const& deck, comm::Nodes const& nodes) {
  if (deck.comm.hierarchy == comm::Hierarchy::none) return {};
  auto const method = deck.optimizer.method;
  if (method == Method::lamb || method == Method::adamw)
    return {"comm.hierarchy: node, but optimizer.method compresses nothing: gradients go between all ranks alike"};
  if (nodes.count > 1) return {};
  return {"comm.hierarchy: node, but one node holds all " + std::to_string(nodes.node_of.size()) +
          " ranks: between nodes nothing is exchanged, so that nothing is ever compressed and values go round inside "
          "the node; comm.ranks_per_node takes a machine for several nodes"};
}

}  // namespace bellwether::app
