// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"
#include "model/optim/sent_bytes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::app {

/// What rank 0 handed to the network in the steps of one phase. One row of /traffic.
struct PhaseTraffic {
  std::int64_t phase = 0;              ///< 0: gradients are averaged as they are; 1: compressed
  std::int64_t steps = 0;              ///< skipped ones too
  std::int64_t sent_bytes = 0;         ///< by the exchange and the small reductions
  std::int64_t worker_bytes = 0;       ///< of these: phase 1 of the compressed mean, all-to-all
  std::int64_t server_bytes = 0;       ///< phase 2 of it, all-gather
  std::int64_t scalar_bytes = 0;       ///< the small reductions: norms, sketches, shares by layer
  std::int64_t inside_node_bytes = 0;  ///< of all, to ranks on rank 0's node
  std::int64_t dense_bytes_fp32 = 0;   ///< what means of uncompressed fp32 would have sent
  std::int64_t dense_bytes_16bit = 0;  ///< the same in 16 bit

  std::int64_t exchange_bytes() const { return sent_bytes - scalar_bytes; }
  /// Values and signs of a hierarchy; of a dense phase the gradients.
  std::int64_t other_bytes() const { return exchange_bytes() - worker_bytes - server_bytes; }
  std::int64_t inter_node_bytes() const { return sent_bytes - inside_node_bytes; }
  /// Adds everything but `phase`.
  void add(PhaseTraffic const& more);

  /// Names each column once, as StepRow::describe().
  template <class Row, class Visit>
  static void describe(Row& row, Visit&& visit) {
    visit("phase", "", row.phase);
    visit("steps", "steps", row.steps);
    visit("sent_bytes", "bytes", row.sent_bytes);
    visit("worker_bytes", "bytes", row.worker_bytes);
    visit("server_bytes", "bytes", row.server_bytes);
    visit("scalar_bytes", "bytes", row.scalar_bytes);
    visit("inside_node_bytes", "bytes", row.inside_node_bytes);
    visit("dense_bytes_fp32", "bytes", row.dense_bytes_fp32);
    visit("dense_bytes_16bit", "bytes", row.dense_bytes_16bit);
  }
};

/// One step of that phase.
PhaseTraffic traffic_of(optim::Phase phase, optim::SentBytes const& sent);

/// What a run has sent since its start, over restarts, by phase.
struct TrafficTotals {
  PhaseTraffic dense{.phase = 0}, compressed{.phase = 1};

  void add(PhaseTraffic const& step) { (step.phase == 0 ? dense : compressed).add(step); }
  PhaseTraffic all() const;
  void visit_state(StateVisitor& visit);
};

/// "26600856 bytes, 28.32 times as much; 31.94 without scalars and sketches": what a dense mean would send beside what
/// was sent, which is more than nothing.
std::string compared_with(std::int64_t dense_bytes, PhaseTraffic const& sent);

/// Lines for the end of a log: bytes of either phase, what dense means over the same steps would have sent, nodes.
/// Nothing where nothing was sent.
std::vector<std::string> traffic_lines(TrafficTotals const& totals);

}  // namespace bellwether::app
