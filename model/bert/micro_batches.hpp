// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/device_progress.hpp"
#include "core/memory/arena.hpp"
#include "model/batch/batch.hpp"
#include "model/bert/bert.hpp"
#include "model/bert/flops.hpp"
#include "model/model_config.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/optimizer.hpp"

#include <algorithm>
#include <optional>

namespace bellwether::model {

/// The passes of one step, given to the execution space, and what is known of their batch.
struct EnqueuedMicroBatches {
  std::int64_t sequences = 0, masked = 0, tokens = 0;  ///< of the global batch
  std::int64_t count = 0;                              ///< this rank's passes
  std::int64_t first_sequences = 0;                    ///< of the first of them
  double flops = 0;                                    ///< of this rank's matrix products
  std::int64_t mark = 0;                               ///< for MicroBatchQueue::wait()
};

/// Forward and backward: turns a batch into this rank's gradient, and counts its losses.
class MicroBatchQueue {
 public:
  /// ranks: P. Everything else outlives this.
  MicroBatchQueue(Exec const& exec, ModelConfig const& config, Bert<float>& bert, optim::Optimizer& optimizer,
                  Arena<>& parameters, Arena<>& gradients, int ranks)
      : exec_(exec),
        config_(config),
        bert_(bert),
        optimizer_(optimizer),
        parameters_(parameters),
        gradients_(gradients),
        ranks_(ranks) {
    if (ranks == 1) first_.emplace(bert.layout().table);
  }

  /// rate: of the step that these gradients are for. The gradients of another step must have been used or forgotten.
  /// Waits only where the host is passes ahead of a device, or where an optimizer must know how its last step went.
  EnqueuedMicroBatches enqueue(StepBatch const& batch, double rate) {
    EnqueuedMicroBatches enqueued{.sequences = batch.global_sequences,
                                  .masked = batch.global_masked,
                                  .tokens = batch.global_tokens,
                                  .count = std::ssize(batch.micro_batches)};
    Kokkos::deep_copy(exec_, gradients_.flat(), 0.0f);
    double const P = ranks_;
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

  /// Waits until the gradients of these passes are there.
  void wait(EnqueuedMicroBatches const& enqueued) const { computed_.wait(exec_, enqueued.mark); }
  /// Of the oldest passes whose losses nobody has taken. Waits for them.
  Losses take_losses() { return bert_.stored_losses(); }
  /// The newest passes count for nothing: the state is as if they had not been enqueued. Collective; waits for the
  /// passes.
  void roll_back() {
    optimizer_.forget_gradients(exec_, gradients_);
    static_cast<void>(take_losses());
  }

  /// Whether the first of several passes is measured by itself: on one rank, where no other tells of noise.
  bool measures_first(EnqueuedMicroBatches const& enqueued) const { return first_ && enqueued.count > 1; }
  /// Squared norm of the gradient of the first of several passes, once these were waited for and before others are
  /// enqueued.
  double first_square() const { return first_->square(); }
  std::int64_t bytes() const { return first_ ? first_->bytes() : 0; }

 private:
  Exec exec_;
  ModelConfig config_;
  Bert<float>& bert_;
  optim::Optimizer& optimizer_;
  Arena<>&parameters_, &gradients_;
  int ranks_;
  std::optional<optim::PartNorm> first_;
  DeviceProgress computed_;
};

}  // namespace bellwether::model
