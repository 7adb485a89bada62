// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/step/row_writer.hpp"

#include "app/train/step/step_timer.hpp"
#include "comm/transport/rank_group.hpp"
#include "core/layout/state_visitor.hpp"
#include "model/bert/enqueued_micro_batches.hpp"
#include "model/optim/step_report.hpp"

namespace bellwether::app {

RowWriter::RowWriter(comm::RankGroup& data, double noise_beta)
    : data_(data), sums_(data.rank(), data.size()), noise_(noise_beta) {}

void RowWriter::sum_step(model::Losses const& losses, model::EnqueuedMicroBatches const& micro_batches,
                         StepTimer const& timer, StopReason wish, bool fault) {
  sum_losses(losses);
  sums_[StepSums::flops] = micro_batches.flops;
  sums_.ask_to_stop(wish);
  sums_[StepSums::faults] = fault ? 1 : 0;
  sums_.mine(StepSums::wait_data) = timer.waited();
  sums_.mine(StepSums::busy) = timer.busy();
  data_.sum_host(sums_.all(), "bellwether::app::step_sums");
}

StepRow RowWriter::step_row(optim::StepScalars const& scalars, optim::StepReport const& report,
                            model::EnqueuedMicroBatches const& micro_batches, StepTimer const& timer,
                            std::optional<double> first_square) {
  tokens_ += micro_batches.tokens;
  samples_ += micro_batches.sequences;
  auto const traffic = traffic_of(report.phase, report.sent);
  traffic_.add(traffic);
  StepRow row{
      .step = scalars.step,
      .learning_rate = scalars.learning_rate,
      .gradient_norm = report.gradient_norm,
      .clip_factor = report.clip_factor,
      .skipped = report.skipped,
      .tokens = tokens_,
      .samples = samples_,
      .tokens_per_second = static_cast<double>(micro_batches.tokens) / timer.seconds(),
      .wall_seconds = timer.run_seconds(),
      .step_seconds = timer.seconds(),
      .wait_data_seconds = sums_.largest(StepSums::wait_data),
      .wait_ranks_seconds = sums_.largest(StepSums::busy) - sums_.smallest(StepSums::busy),
      .sent_bytes = traffic.sent_bytes,
      .phase = traffic.phase,
      .compressed_bytes = traffic.phase == 1 ? traffic.exchange_bytes() : 0,
      .scalar_bytes = traffic.scalar_bytes,
      .intra_node_bytes = traffic.intra_node_bytes,
      .dense_bytes_fp32 = traffic.dense_bytes_fp32,
      .variance_change = report.variance_check.step == scalars.step ? report.variance_check.change : not_measured};
  fill_losses(row, static_cast<double>(micro_batches.masked), static_cast<double>(micro_batches.sequences));
  fill_noise(row, report, micro_batches, first_square);
  return row;
}

EvaluationRow RowWriter::evaluation_row(model::Losses const& losses, double masked, double sequences,
                                        std::int64_t step) {
  sum_losses(losses);
  data_.sum_host(sums_.all(), "bellwether::app::evaluation_sums");
  EvaluationRow row{.step = step, .tokens = tokens_};
  fill_losses(row, masked, sequences);
  return row;
}

/// Writes losses into the cleared sums. Call it before anything else of a step or an evaluation is added.
void RowWriter::sum_losses(model::Losses const& losses) {
  sums_.clear();
  sums_[StepSums::mlm] = losses.mlm;
  sums_[StepSums::mlm_correct] = losses.mlm_correct;
  sums_[StepSums::nsp] = losses.nsp;
  sums_[StepSums::nsp_correct] = losses.nsp_correct;
}

/// Writes means of the reduced sums into a row of either kind.
template <class Row>
void RowWriter::fill_losses(Row& row, double masked, double sequences) const {
  row.mlm_loss = masked > 0 ? sums_[StepSums::mlm] / masked : not_measured;
  row.nsp_loss = sums_[StepSums::nsp] / sequences;
  row.mlm_accuracy = masked > 0 ? sums_[StepSums::mlm_correct] / masked : not_measured;
  row.nsp_accuracy = sums_[StepSums::nsp_correct] / sequences;
  row.loss = (masked > 0 ? row.mlm_loss : 0) + row.nsp_loss;
}

/// Writes the gradient noise of a completed step into its row. One rank alone has no other ranks' gradients to compare
/// with; it compares with its first micro-batch.
void RowWriter::fill_noise(StepRow& row, optim::StepReport const& report,
                           model::EnqueuedMicroBatches const& micro_batches, std::optional<double> first_square) {
  std::int64_t const sequences = micro_batches.sequences;
  row.mean_square = report.mean_square;
  optim::BatchPart part = optim::part_of_ranks(sequences, data_.size());
  if (data_.size() > 1) {
    row.local_square = report.local_square;
  } else if (first_square) {
    part = optim::part_of_micro_batches(sequences, micro_batches.first_sequences);
    row.local_square = *first_square;
  }
  if (!report.skipped) noise_.add(optim::noise_sample(part, row.local_square, row.mean_square, sequences));
  row.noise_signal = noise_.signal();
  row.noise_trace = noise_.trace();
  row.noise_scale = noise_.simple();
  row.critical_batch = noise_.critical_batch();
}

void RowWriter::visit_counts(StateVisitor& visit) {
  visit.scalar(counter("tokens"), tokens_);
  visit.scalar(counter("samples"), samples_);
}

void RowWriter::visit_state(StateVisitor& visit) {
  noise_.visit_state(visit);
  traffic_.visit_state(visit);
}

}  // namespace bellwether::app
