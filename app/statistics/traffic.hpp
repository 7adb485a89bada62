// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"
#include "model/optim/sent_bytes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::app {

/// One row of /traffic: what rank 0 sent in the steps of one phase.
struct PhaseTraffic {
  std::int64_t phase = 0;              ///< 0: dense; 1: compressed
  std::int64_t steps = 0;              ///< including skipped ones
  std::int64_t sent_bytes = 0;         ///< exchange and small reductions
  std::int64_t worker_bytes = 0;       ///< part of sent_bytes: phase 1 of the compressed allreduce, all-to-all
  std::int64_t server_bytes = 0;       ///< part of sent_bytes: phase 2 of the compressed allreduce, all-gather
  std::int64_t scalar_bytes = 0;       ///< part of sent_bytes: small reductions (norms, sketches, per-layer sums)
  std::int64_t intra_node_bytes = 0;   ///< part of sent_bytes: to ranks on rank 0's node
  std::int64_t dense_bytes_fp32 = 0;   ///< what dense means in fp32 would have sent
  std::int64_t dense_bytes_16bit = 0;  ///< what dense means in 16 bits would have sent

  std::int64_t exchange_bytes() const { return sent_bytes - scalar_bytes; }
  /// Returns the remaining exchange: values and signs within a hierarchy, or the gradients in a dense phase.
  std::int64_t other_bytes() const { return exchange_bytes() - worker_bytes - server_bytes; }
  std::int64_t inter_node_bytes() const { return sent_bytes - intra_node_bytes; }
  /// Adds everything but `phase`.
  void add(PhaseTraffic const& more);

  /// Names each column once, like StepRow::describe().
  template <class Row, class Visit>
  static void describe(Row& row, Visit&& visit) {
    visit("phase", "", row.phase);
    visit("steps", "steps", row.steps);
    visit("sent_bytes", "bytes", row.sent_bytes);
    visit("worker_bytes", "bytes", row.worker_bytes);
    visit("server_bytes", "bytes", row.server_bytes);
    visit("scalar_bytes", "bytes", row.scalar_bytes);
    visit("intra_node_bytes", "bytes", row.intra_node_bytes);
    visit("dense_bytes_fp32", "bytes", row.dense_bytes_fp32);
    visit("dense_bytes_16bit", "bytes", row.dense_bytes_16bit);
  }
};

/// Returns the traffic of one step in `phase`.
PhaseTraffic traffic_of(optim::Phase phase, optim::SentBytes const& sent);

/// What a run has sent since its start, over restarts, by phase.
struct TrafficTotals {
  PhaseTraffic dense{.phase = 0}, compressed{.phase = 1};

  void add(PhaseTraffic const& step) { (step.phase == 0 ? dense : compressed).add(step); }
  PhaseTraffic all() const;
  void visit_state(StateVisitor& visit);
};

/// Compares what a dense mean would send with what was sent, which must be positive: "26600856 bytes, 28.32 times as
/// much; 31.94 without scalars and sketches".
std::string compared_with(std::int64_t dense_bytes, PhaseTraffic const& sent);

/// Returns lines for the end of a log: bytes per phase, what dense means over the same steps would have sent, and the
/// inter-node share. Empty if nothing was sent.
std::vector<std::string> traffic_lines(TrafficTotals const& totals);

}  // namespace bellwether::app
