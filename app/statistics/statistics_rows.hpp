// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace bellwether::app {

/// What is not known: a mean over nothing, an accuracy of a step that was not measured.
inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// One optimizer step, summed or averaged over ranks. One row of /steps.
struct StepRow {
  std::int64_t step = 0;               ///< 1-based count of updates; a skipped one has the number it would have had
  double loss = not_measured;          ///< mlm_loss + nsp_loss, of the global batch, dropout active
  double mlm_loss = not_measured;      ///< nats a masked position
  double nsp_loss = not_measured;      ///< nats a sequence
  double mlm_accuracy = not_measured;  ///< share of masked positions
  double nsp_accuracy = not_measured;  ///< share of sequences
  double learning_rate = not_measured;
  double gradient_norm = not_measured;  ///< of the mean gradient, before clipping
  double clip_factor = 1;
  std::int64_t skipped = 0;  ///< 1: the gradient was not finite and nothing was updated
  std::int64_t tokens = 0;   ///< seen since the start of the run, padding not counted
  std::int64_t samples = 0;  ///< sequences seen since the start of the run
  double tokens_per_second = not_measured;
  double wall_seconds = 0;       ///< training time since the start of the run, over restarts
  double step_seconds = 0;       ///< of this step; evaluations and checkpoints are not part of steps
  double wait_data_seconds = 0;  ///< this step, the longest over ranks
  double wait_ranks_seconds =
      0;                        ///< this step, how much longer the slowest rank took to its gradients than the fastest
  std::int64_t sent_bytes = 0;  ///< this step's exchange and small reductions, handed to the network by rank 0
  std::int64_t phase = 0;       ///< 0: gradients are averaged as they are; 1: compressed
  std::int64_t compressed_bytes = 0;  ///< of sent_bytes: the compressed exchange, rank 0
  std::int64_t scalar_bytes = 0;  ///< of sent_bytes: the small reduction that judges gradients nobody averages, rank 0
  std::int64_t inside_node_bytes = 0;  ///< of sent_bytes: to ranks on rank 0's node
  std::int64_t dense_bytes_fp32 = 0;   ///< what an exchange of uncompressed fp32 would have sent, rank 0
  double local_square = not_measured;  ///< squared norm of a small batch's gradient: mean over ranks, or the first pass
  double mean_square = not_measured;   ///< of the mean gradient, both before clipping
  double noise_signal = not_measured;  ///< smoothed: squared norm of the gradient without its noise
  double noise_trace = not_measured;   ///< smoothed: trace of the covariance of gradients of single sequences
  double noise_scale = not_measured;   ///< their ratio
  double critical_batch = not_measured;  ///< mean of the noise scale so far
  /// Share that the tensors' sums of the variance moved: newest check since the row before.
  double variance_change = not_measured;

  /// Names each column once; visit(name, unit, member). Tables, JSON lines and documentation follow from it.
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
    visit("inside_node_bytes", "bytes", row.inside_node_bytes);
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

/// One evaluation on held-out data, dropout off. One row of /evaluation.
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

/// Describes a run to the readers of its statistics.
struct RunDescription {
  std::string name{};         ///< a title
  double frequency_loss = 0;  ///< masked-LM loss that word frequencies reach on the held-out text, nats; 0: not known
};

}  // namespace bellwether::app
