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
class World;
}
namespace bellwether::input {
class IoThread;
}

namespace bellwether::app {

struct TrainingState;

/// Bytes that training holds on this rank, by kind: on the device, and in host memory what is read of the data.
struct MemoryUse {
  std::int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0;
  std::int64_t freeze = 0;     ///< of the optimizer's, what a freeze that is to come allocates
  std::int64_t libraries = 0;  ///< workspace of matrix products
  std::int64_t data = 0;

  std::int64_t device() const { return parameters + gradients + optimizer + activations + libraries; }
};

/// How one step went, beyond its row of statistics.
struct StepOutcome {
  double flops = 0;                    ///< of matrix products, all ranks together
  StopReason stop = StopReason::none;  ///< of some rank
  bool layers = false;                 ///< the step was made and its numbers by layer are due
  std::int64_t skipped_in_a_row = 0;
  std::string
      skipped_because;     ///< what was wrong with the gradient, of which layer and rank; empty: it was not skipped
  std::string data_fault;  ///< why the samples of the step after this one cannot be read; empty where they can
};

/// Whether the host gives the device the passes of the next step before it reads how a step went. Always, on ranks that
/// exchange by the host: for tests, where nothing is gained by it.
enum class HostAhead { where_free, always };

/// The model, its optimizer and its data, and one step of training; who calls writes the record. Every member function
/// is collective. Skipped steps consume their samples, neither a step number nor a rate.
class Trainer {
 public:
  /// \throws CommonError where deck and shards do not fit each other.
  Trainer(input::Deck const& deck, comm::World& world, input::IoThread& io,
          HostAhead host_ahead = HostAhead::where_free);
  ~Trainer();

  std::int64_t step() const;     ///< real steps done
  std::int64_t samples() const;  ///< sequences seen, those of skipped steps too
  std::int64_t tokens() const;   ///< likewise
  double wall_seconds() const;   ///< of all steps, over restarts
  /// Those of the next step, which would otherwise be the first to find them damaged. \throws CommonError.
  void read_first_samples();
  /// One step. `wish` is this rank's; `row` is filled on every rank alike. goes_on, on all ranks alike: if the step is
  /// made and no rank wishes to stop, another one follows, and nobody asks for an evaluation or the state between them;
  /// then passes of that one may be under way when this returns. It changes no result.
  StepOutcome advance(StopReason wish, StepRow& row, bool goes_on = false);
  bool enqueues_ahead() const;  ///< where goes_on is said
  bool evaluates() const;
  EvaluationRow evaluate();  ///< over the held-out sequences
  /// Masked-LM loss that word frequencies alone reach on the held-out text, in nats; 0 where the shards do not say.
  double frequency_loss() const;

  /// Names of what the optimizer measures of each tensor, and its values in the last step, (tensors) each.
  std::vector<std::string> layer_quantities() const;
  std::vector<std::span<float const>> layer_values() const;
  /// Real steps before the freeze of a 1-bit method; nothing before it.
  std::optional<std::int64_t> frozen_after() const;
  /// What a user should read of the last step.
  std::vector<std::string> const& notices() const;

  ParameterLayout const& layout() const;
  TrainingState state();  ///< for checkpoints: save and load alike
  MemoryUse memory_use() const;
  /// Bytes of residuals that a checkpoint after a freeze holds for each rank, with its worker_error exact.
  std::int64_t held_bytes() const;
  /// What this rank sends in a step before and after a freeze; nothing where the method has no such phase.
  std::optional<PhaseTraffic> dense_step() const;
  std::optional<PhaseTraffic> compressed_step() const;
  TrafficTotals const& traffic() const;  ///< of this rank, since the start of the run
  int nodes() const;                     ///< Q, as found or as comm.ranks_per_node has it
  std::string transport() const;         ///< what carries collectives, and why: "mpi: the program computes on the host"
  std::int64_t sequence_length() const;
  std::int64_t masked_length() const;  ///< most predictions a sequence
  std::int64_t training_rows() const;
  bool static_masks() const;                  ///< of the training shards
  std::vector<std::string> warnings() const;  ///< deck_warnings(), and what shards do not give
  /// Operations of the matrix products of the next step, all ranks together. Reads its samples; none is used up.
  /// \throws CommonError where they cannot be read.
  double next_step_flops();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::app
