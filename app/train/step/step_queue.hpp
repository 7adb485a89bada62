// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/batch/batch.hpp"
#include "model/bert/enqueued_micro_batches.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bellwether::comm {
class RankGroup;
}
namespace bellwether::model {
class MicroBatchQueue;
}

namespace bellwether::app {

class BatchAhead;
class StepTimer;

/// Settings of a StepQueue, equal on all ranks.
struct StepQueueOptions {
  bool enqueues_ahead = false;  ///< enqueues before it waits
  /// A step's gradients are read after its outcome is known. Micro-batches of the next step would overwrite them.
  bool keeps_gradients = false;
  std::function<double(std::int64_t)> rate;  ///< learning rate of a step
};

/// Loads the batch of a step and enqueues its micro-batches. If the host is free, it also enqueues the micro-batches of
/// the next step, before this step's outcome is known. Then it can roll them back.
///
/// Calls of one step, in this order: load_batch(), forward_and_backward(), the optimizer, wait_for_gradients(),
/// enqueue_ahead() if wanted. Once the outcome of the step is known: agree_on_fault() and roll_back() if needed.
class StepQueue {
 public:
  /// data: the ranks that share a step's data. All referenced objects must outlive the queue.
  StepQueue(BatchAhead& batches, model::MicroBatchQueue& micro_batches, comm::RankGroup& data, StepTimer& timer,
            StepQueueOptions options);

  /// Makes the batch of the step the current one. Collective. Does nothing if the step is enqueued already.
  /// \throws CommonError if a rank cannot read its samples.
  void load_batch();
  /// Enqueues the micro-batches of step `number`, unless they are enqueued already, and fetches the next batch. If the
  /// transport occupies the host, also waits for the gradients.
  void forward_and_backward(std::int64_t number);
  /// Waits for the gradients of the current step, if forward_and_backward() has not.
  void wait_for_gradients();
  /// Enqueues the micro-batches of the next step, `number`, and fetches the batch after it. Does nothing if the queue
  /// may not enqueue ahead, or if a rank could not fetch the batch. Collective.
  void enqueue_ahead(std::int64_t number);
  /// Discards the next step if it is enqueued. Its samples become those of the next step again. Collective.
  void roll_back();

  /// Returns the micro-batches of the current step.
  model::EnqueuedMicroBatches const& current() const { return current_; }
  bool holds_next() const { return next_.has_value(); }  ///< the next step is enqueued
  bool enqueues_ahead() const { return options_.enqueues_ahead; }

  /// Returns why this rank could not fetch a batch; empty if it could.
  std::string const& fault() const { return fault_; }
  /// Call it if any rank has a fault. Drops fetched samples, so that they are read again. Returns on all ranks the
  /// fault of the first rank that has one; empty if the fault does not concern the next step. Collective.
  std::string agree_on_fault();

 private:
  bool may_enqueue_ahead() const;
  std::string fetch_next();

  BatchAhead& batches_;
  model::MicroBatchQueue& micro_batches_;
  comm::RankGroup& data_;
  StepTimer& timer_;
  StepQueueOptions options_;
  model::StepBatch const* batch_ = nullptr;  // loaded, but not enqueued
  model::EnqueuedMicroBatches current_;
  std::optional<model::EnqueuedMicroBatches> next_;
  bool waited_ = false;  // for the gradients of the current step
  bool agreed_ = false;  // all ranks know that all have fetched the next batch
  std::string fault_;
};

}  // namespace bellwether::app
