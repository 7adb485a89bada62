// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/launch/stop_requests.hpp"
#include "app/statistics/statistics_rows.hpp"
#include "app/statistics/traffic.hpp"
#include "core/layout/parameter_layout.hpp"
#include "input/deck/deck.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bellwether::comm {
class ProcessGrid;
class World;
}  // namespace bellwether::comm
namespace bellwether::input {
class IoThread;
}

namespace bellwether::app {

struct TrainingState;

/// Bytes that training holds on this rank, by kind. All but `data` are in device memory; `data` is in host memory.
struct MemoryUse {
  std::int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0;
  std::int64_t freeze = 0;     ///< part of `optimizer` that only the coming freeze will allocate
  std::int64_t libraries = 0;  ///< workspace of matrix products
  std::int64_t data = 0;

  std::int64_t device() const { return parameters + gradients + optimizer + activations + libraries; }
};

/// The outcome of one step that its row of statistics does not contain.
struct StepOutcome {
  double flops = 0;                    ///< of matrix products, summed over ranks
  StopReason stop = StopReason::none;  ///< reason to stop of some rank
  bool layers = false;                 ///< the step was made and its per-layer values are due for recording
  std::int64_t skipped_in_a_row = 0;
  std::string skipped_because;  ///< fault of the gradient, with layer and rank; empty if the step was not skipped
  std::string data_fault;       ///< why the samples of the next step cannot be read; empty if they can
};

/// Whether the host enqueues the micro-batches of the next step before it reads the outcome of this one.
/// `where_free`: only if the transport leaves the host free. `always`: also with a transport that occupies the host;
/// for tests, it gains nothing there.
enum class HostAhead { where_free, always };

/// Trains a model: owns the model, its optimizer and its data, and makes one step at a time. The caller records the
/// results. All member functions are collective. Skipped steps consume their samples, but no step number and no
/// learning rate.
class Trainer {
 public:
  /// \throws CommonError if deck and shards do not match.
  Trainer(input::Deck const& deck, comm::World& world, input::IoThread& io,
          HostAhead host_ahead = HostAhead::where_free);
  ~Trainer();

  std::int64_t step() const;     ///< completed steps, without skipped ones
  std::int64_t samples() const;  ///< sequences seen, including those of skipped steps
  std::int64_t tokens() const;   ///< tokens seen, including those of skipped steps
  double wall_seconds() const;   ///< time of all steps since the start of the run, over restarts
  /// Reads the samples of the next step, to find damaged ones before training starts. \throws CommonError.
  void read_first_samples();
  /// Makes one step. wish: this rank's reason to stop. row: filled equally on all ranks. goes_on: equal on all ranks.
  /// True promises that another step follows if this one is completed, without evaluate() or state() in between. Its
  /// micro-batches may then already run when advance() returns. goes_on changes no result.
  StepOutcome advance(StopReason wish, StepRow& row, bool goes_on = false);
  bool enqueues_ahead() const;  ///< whether goes_on has an effect
  bool evaluates() const;
  EvaluationRow evaluate();            ///< on the held-out sequences
  RunDescription description() const;  ///< its losses are those that the held-out shards record

  /// Return the names of the quantities that the optimizer measures per tensor, and their values in the last step,
  /// (tensors) each.
  std::vector<std::string> layer_quantities() const;
  std::vector<std::span<float const>> layer_values() const;
  /// Returns the number of completed steps before the freeze of a 1-bit method; nothing before the freeze.
  std::optional<std::int64_t> frozen_after() const;
  /// Returns messages for the user about the last step.
  std::vector<std::string> const& notices() const;

  ParameterLayout const& layout() const;
  TrainingState state();  ///< for saving and loading checkpoints
  MemoryUse memory_use() const;
  /// Returns the bytes of residuals that a checkpoint after a freeze holds per rank if checkpoint.worker_error is
  /// exact.
  std::int64_t residual_bytes() const;
  /// Return what this rank sends in one step before and after a freeze; nothing if the method has no such phase.
  std::optional<PhaseTraffic> dense_step() const;
  std::optional<PhaseTraffic> compressed_step() const;
  TrafficTotals const& traffic() const;   ///< of this rank, since the start of the run
  comm::ProcessGrid const& grid() const;  ///< data replicas, nodes, transport
  std::int64_t sequence_length() const;
  std::int64_t masked_length() const;  ///< maximum number of predictions per sequence
  std::int64_t training_rows() const;
  bool static_masks() const;                  ///< of the training shards
  std::vector<std::string> warnings() const;  ///< deck_warnings(), node_warnings() and warnings about the shards
  /// Returns the operations of the next step's matrix products, summed over ranks. Reads the step's samples without
  /// consuming them. \throws CommonError if they cannot be read.
  double next_step_flops();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::app
