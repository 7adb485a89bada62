// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/communicator.hpp"
#include "core/arena.hpp"
#include "core/state_visitor.hpp"
#include "model/optim/config.hpp"

#include <memory>
#include <vector>

namespace bellwether::optim {

enum class Replication { replicated, per_rank };

/// Elements [first, last) of the arena.
struct SliceRange {
  Index first, last;
};

struct StepScalars {
  std::int64_t step;  ///< 1-based count of real optimizer steps
  double learning_rate;
};

/// What the last call of step() did. Per-layer vectors are in the order of the layout, empty where the method has none.
struct StepReport {
  bool skipped = false;  ///< the mean gradient was not finite: no state was touched
  std::string_view phase = "dense";
  double gradient_norm = 0;  ///< of the mean gradient, before clipping
  double clip_factor = 1;
  std::int64_t sent_bytes = 0;        ///< this rank, this step
  std::int64_t first_bad_layer = -1;  ///< where skipped
  std::vector<float> trust_ratio, weight_norm, update_norm;
};

/// The process groups an optimizer may use.
struct ProcessGroups {
  comm::Communicator& data;
};

/// Turns this rank's gradient into this rank's new parameters; it owns the exchange. The trainer never reduces
/// gradients and never asks which phase is active.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Backward has finished the gradients of `range`; called in reverse order of layers: overlap hangs here.
  virtual void gradient_ready(Exec const& exec, SliceRange range) = 0;
  /// local_gradients: P * (this rank's sum) / (global count), so that the plain mean over ranks is the gradient of the
  /// global loss. Destroyed by the call.
  virtual void step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) = 0;
  virtual Replication replication() const = 0;
  /// What evaluation, export and report use: `mine` itself where replicated, the mean over ranks where per_rank.
  virtual void consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const = 0;
  virtual void visit_state(StateVisitor& visit) = 0;
  virtual StepReport const& last_report() const = 0;
  virtual std::int64_t state_bytes() const = 0;  ///< moments and exchange buffers, for `check`
};

struct OptimizerContext {
  ParameterLayout const& layout;
  ProcessGroups groups;
  Exec exec;
  comm::CommConfig comm;
};

std::unique_ptr<Optimizer> make_optimizer(OptimizerConfig const& config, OptimizerContext const& context);

}  // namespace bellwether::optim
