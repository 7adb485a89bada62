// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/device_progress.hpp"
#include "core/memory/arena.hpp"
#include "model/batch/batch.hpp"
#include "model/bert/bert.hpp"
#include "model/bert/enqueued_micro_batches.hpp"
#include "model/bert/flops.hpp"
#include "model/model_config.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/optimizer.hpp"

#include <algorithm>
#include <optional>

namespace bellwether::model {

/// Enqueues forward and backward of a batch, which compute this rank's gradient and losses.
class MicroBatchQueue {
 public:
  /// Objects that the queue uses; all must outlive it.
  struct Parts {
    Bert<float>& bert;
    optim::Optimizer& optimizer;
    Arena<>& parameters;  ///< (n)
    Arena<>& gradients;   ///< (n), of the optimizer's next step
  };

  /// replicas: P, the ranks that share a step's data.
  MicroBatchQueue(Exec const& exec, ModelConfig const& config, Parts const& parts, int replicas)
      : exec_(exec),
        config_(config),
        bert_(parts.bert),
        optimizer_(parts.optimizer),
        parameters_(parts.parameters),
        gradients_(parts.gradients),
        replicas_(replicas) {
    if (replicas == 1) first_.emplace(bert_.layout().table);
  }

  /// Enqueues all micro-batches of a step. rate: learning rate of the step that uses these gradients. The gradients of
  /// the step before must have been used or rolled back. Waits only if the host is too many micro-batches ahead of the
  /// device, or if the optimizer needs the result of its last step.
  EnqueuedMicroBatches enqueue(StepBatch const& batch, double rate) {
    EnqueuedMicroBatches enqueued{.sequences = batch.global_sequences,
                                  .masked = batch.global_masked,
                                  .tokens = batch.global_tokens,
                                  .count = std::ssize(batch.micro_batches)};
    Kokkos::deep_copy(exec_, gradients_.flat(), 0.0f);
    double const P = replicas_;
    LossScale const scale{.mlm = P / std::max<double>(1, static_cast<double>(batch.global_masked)),
                          .nsp = P / static_cast<double>(batch.global_sequences)};
    bert_.set_parameters(optimizer_.gradient_point(exec_, parameters_, rate));
    for (std::size_t i = 0; i < batch.micro_batches.size(); ++i) {
      auto const& micro_batch = batch.micro_batches[i];
      bool const last = i + 1 == batch.micro_batches.size();
      bert_.train(gradients_.data(), micro_batch, scale, [&](Index first, Index end) {
        if (last) optimizer_.gradient_ready(exec_, gradients_, {first, end});
      });
      if (i == 0) enqueued.first_sequences = micro_batch.sequences();
      if (first_ && i == 0 && !last) first_->measure(exec_, gradients_);
      enqueued.flops += training_flops(config_, micro_batch);
    }
    bert_.store_losses();
    computed_.mark(exec_);
    enqueued.mark = computed_.marked();
    return enqueued;
  }

  /// Waits until the gradients of these micro-batches are complete.
  void wait(EnqueuedMicroBatches const& enqueued) const { computed_.wait(exec_, enqueued.mark); }
  /// Returns the losses of the oldest enqueued step whose losses were not read yet. Waits for them.
  Losses take_losses() { return bert_.stored_losses(); }
  /// Discards the newest enqueued step, as if it had not been enqueued. Collective; waits for its micro-batches.
  void roll_back() {
    optimizer_.forget_gradients(exec_, gradients_);
    static_cast<void>(take_losses());
  }

  /// Returns whether the gradient norm of the first of several micro-batches is measured. On one rank the noise scale
  /// needs it.
  bool measures_first(EnqueuedMicroBatches const& enqueued) const { return first_ && enqueued.count > 1; }
  /// Returns the squared gradient norm of the first micro-batch. Valid after wait() and before the next enqueue().
  double first_square() const { return first_->square(); }
  std::int64_t bytes() const { return first_ ? first_->bytes() : 0; }

 private:
  Exec exec_;
  ModelConfig config_;
  Bert<float>& bert_;
  optim::Optimizer& optimizer_;
  Arena<>&parameters_, &gradients_;
  int replicas_;
  std::optional<optim::PartNorm> first_;
  DeviceProgress computed_;
};

}  // namespace bellwether::model
