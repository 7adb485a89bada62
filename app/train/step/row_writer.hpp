// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/launch/stop_requests.hpp"
#include "app/statistics/statistics_rows.hpp"
#include "app/statistics/traffic.hpp"
#include "app/train/step/step_sums.hpp"
#include "model/heads/losses.hpp"
#include "model/optim/monitor/noise_scale.hpp"

#include <cstdint>
#include <optional>

namespace bellwether {
class StateVisitor;
}
namespace bellwether::comm {
class RankGroup;
}
namespace bellwether::model {
struct EnqueuedMicroBatches;
}
namespace bellwether::optim {
struct StepReport;
struct StepScalars;
}  // namespace bellwether::optim

namespace bellwether::app {

class StepTimer;

/// Sums the numbers of a step or of an evaluation over ranks and writes its row of statistics. Keeps the totals of the
/// run.
class RowWriter {
 public:
  /// data: the ranks that share a step's data; must outlive the writer. noise_beta: argument of optim::NoiseScale.
  RowWriter(comm::RankGroup& data, double noise_beta);

  /// Sums a step over the data ranks, in one reduction. losses and micro_batches: of this rank. wish: this rank's
  /// reason to stop. fault: this rank could not fetch a batch. Collective.
  void sum_step(model::Losses const& losses, model::EnqueuedMicroBatches const& micro_batches, StepTimer const& timer,
                StopReason wish, bool fault);
  double flops() const { return sums_[StepSums::flops]; }         ///< of matrix products, over ranks
  StopReason stop() const { return sums_.stop(); }                ///< of the first rank that has one
  bool has_fault() const { return sums_[StepSums::faults] > 0; }  ///< of any rank

  /// Returns the row of the step that sum_step() has summed, and adds the step to the totals. first_square: squared
  /// gradient norm of the step's first micro-batch, if it was measured.
  StepRow step_row(optim::StepScalars const& scalars, optim::StepReport const& report,
                   model::EnqueuedMicroBatches const& micro_batches, StepTimer const& timer,
                   std::optional<double> first_square);
  /// Sums an evaluation over the data ranks and returns its row. masked, sequences: counts of the held-out set, over
  /// ranks. step: completed steps. Collective.
  EvaluationRow evaluation_row(model::Losses const& losses, double masked, double sequences, std::int64_t step);

  std::int64_t tokens() const { return tokens_; }    ///< seen, including those of skipped steps
  std::int64_t samples() const { return samples_; }  ///< sequences seen, including those of skipped steps
  TrafficTotals const& traffic() const { return traffic_; }
  void visit_counts(StateVisitor& visit);  ///< tokens and samples
  void visit_state(StateVisitor& visit);   ///< the other totals

 private:
  void sum_losses(model::Losses const& losses);
  template <class Row>
  void fill_losses(Row& row, double masked, double sequences) const;
  void fill_noise(StepRow& row, optim::StepReport const& report, model::EnqueuedMicroBatches const& micro_batches,
                  std::optional<double> first_square);

  comm::RankGroup& data_;
  StepSums sums_;
  optim::NoiseScale noise_;
  TrafficTotals traffic_;
  std::int64_t tokens_ = 0, samples_ = 0;
};

}  // namespace bellwether::app
