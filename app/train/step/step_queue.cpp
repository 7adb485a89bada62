// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/step/step_queue.hpp"

#include "app/launch/collective_errors.hpp"
#include "app/train/step/batch_ahead.hpp"
#include "app/train/step/step_timer.hpp"
#include "model/bert/micro_batches.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <utility>

namespace bellwether::app {

StepQueue::StepQueue(BatchAhead& batches, model::MicroBatchQueue& micro_batches, comm::RankGroup& data,
                     StepTimer& timer, StepQueueOptions options)
    : batches_(batches), micro_batches_(micro_batches), data_(data), timer_(timer), options_(std::move(options)) {}

void StepQueue::load_batch() {
  if (next_) return;
  if (!batches_.fetched()) {
    Kokkos::Profiling::ScopedRegion const region("bellwether::app::next_batch");
    batches_.fetch_together();
  }
  batch_ = &batches_.begin();
}

void StepQueue::forward_and_backward(std::int64_t number) {
  current_ = next_ ? *std::exchange(next_, std::nullopt) : micro_batches_.enqueue(*batch_, options_.rate(number));
  waited_ = false;
  // The previous step agreed on the next batch if it fetched it.
  agreed_ = batches_.fetched();
  fault_ = agreed_ ? "" : fetch_next();
  if (!options_.enqueues_ahead) wait_for_gradients();
}

void StepQueue::wait_for_gradients() {
  if (waited_) return;
  micro_batches_.wait(current_);
  timer_.reach_gradients();
  waited_ = true;
}

void StepQueue::enqueue_ahead(std::int64_t number) {
  if (!may_enqueue_ahead() || !(agreed_ || first_fault(data_, fault_).empty())) return;
  load_batch();
  next_ = micro_batches_.enqueue(*batch_, options_.rate(number));
  fault_ = fetch_next();
}

/// Micro-batches overwrite the gradients, and the norm of a step's first micro-batch.
bool StepQueue::may_enqueue_ahead() const {
  return options_.enqueues_ahead && !options_.keeps_gradients && !micro_batches_.measures_first(current_);
}

void StepQueue::roll_back() {
  if (!next_) return;
  micro_batches_.roll_back();
  batches_.roll_back();
  next_.reset();
}

std::string StepQueue::agree_on_fault() {
  // If the next step is enqueued, the fault concerns the step after it and is found again when that step fetches its
  // batch.
  auto const fault = next_ ? std::string() : first_fault(data_, fault_);
  batches_.seek(batches_.position());
  return fault;
}

std::string StepQueue::fetch_next() {
  Kokkos::Profiling::ScopedRegion const region("bellwether::app::next_batch");
  return batches_.try_to_fetch();
}

}  // namespace bellwether::app
