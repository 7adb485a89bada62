// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/layout/state_visitor.hpp"
#include "core/memory/arena.hpp"
#include "model/optim/optimizer_config.hpp"
#include "model/optim/sent_bytes.hpp"
#include "model/optim/step_report.hpp"

#include <memory>
#include <optional>

namespace bellwether::optim {

enum class Replication { replicated, per_rank };

/// The process groups that an optimizer may use. comm::ProcessGrid has them.
struct ProcessGroups {
  comm::Communicator& data;                ///< the ranks that share a step's data
  comm::NodeGroups const* node = nullptr;  ///< node groups of data's ranks, with comm.hierarchy: node
};

/// Turns this rank's gradient into this rank's new parameters, including all communication. The trainer never reduces
/// gradients and never asks for the phase.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Announces that backward has finished the gradients of `range` in the last micro-batch of a step. Call it in
  /// reverse order of layers, at most once for each. From then on the optimizer owns them and may send them while
  /// others are computed. reduce() with the same arena, or forget_gradients(), must follow. An empty range at the
  /// beginning of the last one only makes communication progress. Does not wait for other ranks. Optional; omitting it
  /// only costs performance.
  virtual void gradient_ready(Exec const& exec, Arena<>& local_gradients, SliceRange range) = 0;
  /// Discards gradients that were announced but do not belong to the next step: completes their transfer and ignores
  /// the result. Collective. Afterwards new gradients in the same arena may be announced.
  virtual void forget_gradients(Exec const& exec, Arena<>& local_gradients) = 0;
  /// Makes one step: reduce(), check_gradient() and update() with the same arenas. Enqueues kernels; waits for none.
  void step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) {
    reduce(exec, local_gradients, scalars);
    check_gradient(exec, local_gradients);
    update(exec, parameters, local_gradients, scalars);
  }
  /// Sums over ranks what the gradient check needs: the gradients, which become their mean, or only scalars of them.
  /// local_gradients: P * (this rank's sum) / (global count), so that their mean over ranks is the gradient of the
  /// global loss.
  virtual void reduce(Exec const& exec, Arena<>& local_gradients, StepScalars const& scalars) = 0;
  /// Determines whether the gradients are finite, their global norm and the factor that clips them.
  virtual void check_gradient(Exec const& exec, Arena<> const& gradients) = 0;
  /// Moves the parameters, unless the gradient check says skip. A compressed exchange is part of it, because clipped
  /// gradients are compressed. Overwrites the gradients.
  virtual void update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) = 0;
  /// Returns the point (n) at which this rank must evaluate the gradients of the next step. It is the parameters, or
  /// memory of the optimizer that is valid until the next call.
  virtual float const* gradient_point(Exec const&, Arena<> const& parameters, double /*learning_rate*/) {
    return parameters.data();
  }
  virtual Replication replication() const = 0;
  /// out <- the parameters for evaluation, export and report: `mine` if replicated, the mean over ranks if per_rank.
  virtual void consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const = 0;
  virtual void visit_state(StateVisitor& visit) = 0;
  /// Returns whether the variance is frozen. Then gradients never again update an element that had none before.
  virtual bool freezes_variance() const { return false; }
  virtual StepReport const& last_report() const = 0;
  /// Returns the number of real steps before the freeze; nothing without a freeze or before it.
  virtual std::optional<std::int64_t> frozen_after() const { return std::nullopt; }
  /// Returns whether step t is at most freeze_surroundings steps before a possible freeze or after a freeze. Depends on
  /// saved state only.
  virtual bool near_freeze(std::int64_t) const { return false; }
  /// Bytes of this rank's residuals and of the state that belongs to them, after the freeze. For `check`.
  virtual std::int64_t residual_bytes() const { return 0; }
  virtual std::int64_t state_bytes() const = 0;            ///< of moments and exchange buffers, for `check`
  virtual std::int64_t freeze_bytes() const { return 0; }  ///< part of state_bytes() that a future freeze allocates
  /// Returns what this rank sends in a step of that phase; nothing if the method has no such phase. For `check`.
  virtual std::optional<SentBytes> predicted_bytes(Phase phase) const = 0;
};

struct OptimizerContext {
  ParameterLayout const& layout;
  ProcessGroups groups;
  Exec exec;
  comm::CommConfig comm;
  std::uint64_t seed = 1;              ///< of the run
  std::int64_t steps = 0;              ///< of the whole run
  std::int64_t rate_warmup_steps = 0;  ///< steps until the learning rate reaches its peak
};

std::unique_ptr<Optimizer> make_optimizer(OptimizerConfig const& config, OptimizerContext const& context);

}  // namespace bellwether::optim
