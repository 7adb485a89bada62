// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace bellwether::app {

/// An unknown value: a mean over nothing, or a quantity that this step did not measure.
inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// One row of /steps: one optimizer step, with values summed or averaged over ranks.
struct StepRow {
  std::int64_t step = 0;           ///< 1-based number of the update; a skipped step has the number it would have had
  double loss = not_measured;      ///< mlm_loss + nsp_loss of the global batch, with dropout
  double mlm_loss = not_measured;  ///< nats per masked position
  double nsp_loss = not_measured;  ///< nats per sequence
  double mlm_accuracy = not_measured;  ///< fraction of masked positions
  double nsp_accuracy = not_measured;  ///< fraction of sequences
  double learning_rate = not_measured;
  double gradient_norm = not_measured;  ///< of the mean gradient, before clipping
  double clip_factor = 1;
  std::int64_t skipped = 0;  ///< 1: the gradient check failed and nothing was updated
  std::int64_t tokens = 0;   ///< seen since the start of the run, without padding
  std::int64_t samples = 0;  ///< sequences seen since the start of the run
  double tokens_per_second = not_measured;
  double wall_seconds = 0;        ///< training time since the start of the run, over restarts
  double step_seconds = 0;        ///< of this step; evaluations and checkpoints are not included
  double wait_data_seconds = 0;   ///< of this step, maximum over ranks
  double wait_ranks_seconds = 0;  ///< of this step: time to the gradients on the slowest rank minus that on the fastest
  std::int64_t sent_bytes = 0;    ///< of this step: exchange and small reductions, sent by rank 0
  std::int64_t phase = 0;         ///< 0: dense; 1: compressed
  std::int64_t compressed_bytes = 0;  ///< part of sent_bytes: the compressed exchange, rank 0
  std::int64_t scalar_bytes = 0;      ///< part of sent_bytes: small reductions, such as the gradient check, rank 0
  std::int64_t intra_node_bytes = 0;  ///< part of sent_bytes: to ranks on rank 0's node
  std::int64_t dense_bytes_fp32 = 0;  ///< what an uncompressed fp32 exchange would have sent, rank 0
  double local_square =
      not_measured;  ///< squared gradient norm of a small batch: mean over ranks, or the first micro-batch
  double mean_square = not_measured;     ///< squared norm of the mean gradient; both before clipping
  double noise_signal = not_measured;    ///< smoothed: squared norm of the gradient without noise
  double noise_trace = not_measured;     ///< smoothed: trace of the covariance of single-sequence gradients
  double noise_scale = not_measured;     ///< noise_trace / noise_signal
  double critical_batch = not_measured;  ///< mean of noise_scale so far
  /// Relative change of the tensors' variance sums, from the newest variance check since the previous row.
  double variance_change = not_measured;

  /// Calls visit(name, unit, member) for each column. Tables, JSON lines and documentation are generated from it.
  template <class Row, class Visit>
  static void describe(Row& row, Visit&& visit) {
    visit("step", "", row.step);
    visit("loss", "nats", row.loss);
    visit("mlm_loss", "nats", row.mlm_loss);
    visit("nsp_loss", "nats", row.nsp_loss);
    visit("mlm_accuracy", "", row.mlm_accuracy);
    visit("nsp_accuracy", "", row.nsp_accuracy);
    visit("learning_rate", "", row.learning_rate);
    visit("gradient_norm", "", row.gradient_norm);
    visit("clip_factor", "", row.clip_factor);
    visit("skipped", "", row.skipped);
    visit("tokens", "tokens", row.tokens);
    visit("samples", "sequences", row.samples);
    visit("tokens_per_second", "tokens/s", row.tokens_per_second);
    visit("wall_seconds", "s", row.wall_seconds);
    visit("step_seconds", "s", row.step_seconds);
    visit("wait_data_seconds", "s", row.wait_data_seconds);
    visit("wait_ranks_seconds", "s", row.wait_ranks_seconds);
    visit("sent_bytes", "bytes", row.sent_bytes);
    visit("phase", "", row.phase);
    visit("compressed_bytes", "bytes", row.compressed_bytes);
    visit("scalar_bytes", "bytes", row.scalar_bytes);
    visit("intra_node_bytes", "bytes", row.intra_node_bytes);
    visit("dense_bytes_fp32", "bytes", row.dense_bytes_fp32);
    visit("local_square", "", row.local_square);
    visit("mean_square", "", row.mean_square);
    visit("noise_signal", "", row.noise_signal);
    visit("noise_trace", "sequences", row.noise_trace);
    visit("noise_scale", "sequences", row.noise_scale);
    visit("critical_batch", "sequences", row.critical_batch);
    visit("variance_change", "", row.variance_change);
  }
};

/// One row of /evaluation: one evaluation on held-out data, without dropout.
struct EvaluationRow {
  std::int64_t step = 0;
  std::int64_t tokens = 0;  ///< training tokens seen so far
  double loss = not_measured;
  double mlm_loss = not_measured;
  double nsp_loss = not_measured;
  double mlm_accuracy = not_measured;
  double nsp_accuracy = not_measured;

  template <class Row, class Visit>
  static void describe(Row& row, Visit&& visit) {
    visit("step", "", row.step);
    visit("tokens", "tokens", row.tokens);
    visit("loss", "nats", row.loss);
    visit("mlm_loss", "nats", row.mlm_loss);
    visit("nsp_loss", "nats", row.nsp_loss);
    visit("mlm_accuracy", "", row.mlm_accuracy);
    visit("nsp_accuracy", "", row.nsp_accuracy);
  }
};

/// Description of a run for the readers of its statistics.
struct RunDescription {
  std::string name{};  ///< title
  /// Masked-LM losses on the held-out text that word frequencies alone reach, and a model that also sees the masked
  /// position itself; nats, 0: unknown.
  double frequency_loss = 0, context_free_loss = 0;
};

}  // namespace bellwether::app
