// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/deck_warnings.hpp"

#include "comm/transport/world.hpp"
#include "core/system/error.hpp"
#include "input/deck/deck.hpp"
#include "input/deck/deck_values.hpp"
#include "input/files/written_path.hpp"
#include "model/optim/registry.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::app {
namespace {

/// Returns the memory of an exponential average in steps, 1/(1 - beta): it has then mostly forgotten its start.
std::int64_t memory_of(double beta) {
  // 1 - 0.9 is slightly less than 0.1 in floating point, but the memory is ten steps, not eleven.
  return static_cast<std::int64_t>(std::ceil(1.0 / (1.0 - beta) * (1.0 - 1e-9)));
}

/// Checks the given step of the freeze, or the latest one if the program chooses it. A chosen freeze waits until the
/// frozen quantities have settled, unless the latest step comes first.
std::vector<std::string> freeze_warnings(input::Deck const& deck) {
  auto const& optimizer = deck.optimizer;
  auto const& schedule = deck.schedule;
  auto const& freeze = optimizer.freeze;
  if (!compresses(optimizer.method)) return {};
  std::int64_t const variance_memory = freezes_variance(optimizer.method) ? memory_of(optimizer.beta2) : 0;
  std::int64_t const ratio_memory = averages_ratios(optimizer.method) ? memory_of(optimizer.coefficient_beta) : 0;
  auto const at = freeze.step.value_or(freeze.latest_step(schedule.steps));
  auto const total = std::to_string(schedule.steps) + (schedule.steps == 1 ? " step" : " steps");
  auto const subject = freeze.step ? "optimizer.freeze.step: " + std::to_string(at) + ", but "
                                   : "optimizer.freeze.latest: " + input::shortest_number(freeze.latest) + " of " +
                                         total + " is step " + std::to_string(at) + ", but ";
  if (at >= schedule.steps) {
    bool const chosen_before = !freeze.step && freezes_variance(optimizer.method) &&
                               std::max({variance_memory, ratio_memory, schedule.warmup_steps}) < schedule.steps;
    if (chosen_before) return {};
    return {subject + "schedule.steps is " + std::to_string(schedule.steps) + ": nothing is ever compressed, plain " +
            std::string(rule_of(optimizer.method).title) + " to the end"};
  }
  std::vector<std::string> texts;
  if (at < variance_memory)
    texts.push_back(subject + "optimizer.beta2 averages the variance over " + std::to_string(variance_memory) +
                    " steps: the frozen variance has not settled");
  if (at < ratio_memory)
    texts.push_back(subject + "optimizer.coefficient_beta averages trust ratios over " + std::to_string(ratio_memory) +
                    " steps: the frozen ratios have not settled");
  // LEGW keeps the number of warmup steps of the baseline.
  if (at < schedule.warmup_steps)
    texts.push_back(subject + "the learning rate rises until step " + std::to_string(schedule.warmup_steps) +
                    " (schedule.warmup_steps): gradients change most during warmup");
  return texts;
}

/// Returns a warning if the learning rate is 0 at every step, otherwise an empty text.
std::string zero_rate(input::Deck const& deck) {
  auto const& schedule = deck.schedule;
  auto const peak = std::clamp<std::int64_t>(schedule.warmup_steps, 1, schedule.steps);  // the rate rises, then falls
  if (optim::learning_rate(schedule, deck.optimizer.lr, deck.batch.global, peak) > 0) return "";
  if (deck.optimizer.lr > 0)
    return "schedule.steps: " + std::to_string(schedule.steps) +
           ": the decay ends at a learning rate of 0, so that the only step changes no parameter; take more steps, or "
           "set schedule.final_fraction above 0";
  return "optimizer.lr: 0: the learning rate is 0 at every step, so that no parameter ever changes; set it above 0";
}

}  // namespace

std::vector<std::string> deck_warnings(input::Deck const& deck) {
  auto texts = freeze_warnings(deck);
  if (auto const text = zero_rate(deck); !text.empty()) texts.push_back(text);
  if (auto const& optimizer = deck.optimizer;
      compresses(optimizer.method) && optimizer.lead() > 0 && optimizer.step_ahead > 0)
    texts.push_back(
        "optimizer.nesterov: true with optimizer.step_ahead: " + input::shortest_number(optimizer.step_ahead) +
        ": each compensates the delay of error feedback, and both together overshoot; set nesterov: false, or "
        "step_ahead: 0");
  if (auto const pattern = input::batch_pattern(deck.run.directory); !pattern.empty())
    texts.push_back("run.directory: '" + deck.run.directory + "' holds " + pattern +
                    ", which a batch system replaces only in its own options: all jobs use one folder of exactly this "
                    "name; leave " +
                    pattern + " out, or write --set run.directory=run_$SLURM_JOB_ID in the job script");
  if (deck.comm.allreduce == comm::Allreduce::library)
    texts.push_back(
        "comm.allreduce: library: MPI chooses the order of sums. Ranks and repeated runs may differ in their last "
        "bits, and the counted bytes are not those on the network");
  if (deck.model.compute == ComputeType::bf16 && !has_bf16_products())
    texts.push_back(
        "model.compute: bf16: this program was compiled for a CPU without bf16 products: rounded operands are "
        "multiplied as floats, no faster than fp32");
  return texts;
}

std::vector<std::string> node_warnings(input::Deck const& deck, comm::Nodes const& nodes) {
  if (deck.comm.hierarchy == comm::Hierarchy::none) return {};
  if (!compresses(deck.optimizer.method))
    return {
        "comm.hierarchy: node, but optimizer.method compresses nothing: gradients are exchanged between all ranks "
        "without the hierarchy"};
  if (nodes.count > 1) return {};
  return {"comm.hierarchy: node, but one node holds all " + std::to_string(nodes.node_of.size()) +
          " ranks: only exchanges between nodes are compressed, and there are none; set comm.ranks_per_node to treat "
          "one machine as several nodes"};
}

}  // namespace bellwether::app
