// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/dense_mean.hpp"
#include "comm/compression/compressed_report.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/layout/state_visitor.hpp"
#include "core/memory/arena.hpp"
#include "model/optim/freeze.hpp"
#include "model/optim/optimizer_config.hpp"
#include "model/optim/sent_bytes.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::optim {

enum class Replication { replicated, per_rank };

/// Elements [first, last) of the arena.
struct SliceRange {
  Index first, last;
};

/// How a segment of the dense mean went, by the host's clock.
struct SegmentReport {
  SliceRange elements;
  Clock::time_point ready;  ///< gradient_ready() was told of its last gradient, or else step() began
  comm::SegmentTimes mean;
};

struct StepScalars {
  std::int64_t step;  ///< 1-based count of real optimizer steps
  double learning_rate;
  /// Numbers by layer that cost a pass of their own or bytes are wanted: those of comm::CompressionShares and of
  /// measure_update(). On all ranks alike.
  bool layers = false;
};

/// One number for each tensor, in the order of the layout; NaN where the step has none.
struct LayerQuantity {
  std::string_view name;
  std::vector<float> values;
};

/// What the last call of step() did.
struct StepReport {
  /// The gradient was not finite on some rank, or its norm above the limit: no state was touched.
  bool skipped = false;
  Phase phase = Phase::dense;
  double gradient_norm = 0;  ///< of the mean gradient, before clipping; estimated in the compressed phase
  double clip_factor = 1;
  /// Squared norm of the mean gradient and mean over ranks of those of their own gradients, before clipping; NaN where
  /// skipped or not known: the first by CompressedClip::local_rms, the second on one rank of a dense step.
  double mean_square = std::numeric_limits<double>::quiet_NaN();
  double local_square = std::numeric_limits<double>::quiet_NaN();
  SentBytes sent;
  double usual_norm = 0;  ///< the running mean, where the norm was above optimizer.norm_limit times that; else 0
  /// Where skipped: the first rank whose own gradient is not finite, and its first such layer. Rank -1: only the sum
  /// over ranks is not finite, and the layer is the first of that, or -1 where only a sum over elements is not.
  /// Where the norm was above the limit: the rank with the largest norm, and layer -1.
  std::int64_t bad_rank = -1;
  std::int64_t first_bad_layer = -1;
  std::vector<SegmentReport> segments;  ///< of a dense step on several ranks, in the order in which they travelled
  VarianceCheck variance_check;         ///< of this step or one before it
  comm::CompressedReport exchange;      ///< zeros where nothing was compressed
  std::vector<LayerQuantity> layers;    ///< the same names after every step; empty where the method has none
  std::vector<std::string> notices;     ///< what a user should read in the log, told once

  /// \throws InternalError where the method has no such quantity.
  std::vector<float> const& layer(std::string_view name) const;
};

/// The process groups an optimizer may use.
struct ProcessGroups {
  comm::Communicator& data;
  comm::NodeGroups const* node = nullptr;  ///< of data's ranks, with comm.hierarchy: node
};

/// Turns this rank's gradient into this rank's new parameters; it owns the exchange. The trainer never reduces
/// gradients and never asks which phase is active.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Backward has finished the gradients of `range`, in the last pass of a step; called in reverse order of layers, at
  /// most once for each. From here on they are the optimizer's, which may send them while others are formed; step(),
  /// with the same arena, or forget_gradients() follows. A range of nothing where the last one began is a time to look
  /// after what travels. Does not wait for other ranks. Who does not call it loses time alone.
  virtual void gradient_ready(Exec const& exec, Arena<>& local_gradients, SliceRange range) = 0;
  /// Gradients that were ready are not the ones of the step to come: what travels of them ends and counts for nothing.
  /// Collective. The same arena's next gradients may be ready after it.
  virtual void forget_gradients(Exec const& exec, Arena<>& local_gradients) = 0;
  /// local_gradients: P * (this rank's sum) / (global count), so that the plain mean over ranks is the gradient of the
  /// global loss. Destroyed by the call.
  virtual void step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) = 0;
  /// Where this rank takes the gradients of the step to come, (n): the parameters, or memory of the optimizer's own
  /// that is valid until the next call.
  virtual float const* gradient_point(Exec const&, Arena<> const& parameters, double /*learning_rate*/) {
    return parameters.data();
  }
  virtual Replication replication() const = 0;
  /// What evaluation, export and report use: `mine` itself where replicated, the mean over ranks where per_rank.
  virtual void consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const = 0;
  virtual void visit_state(StateVisitor& visit) = 0;
  /// Whether the variance is kept for good: an element that had no gradient until then is never updated by one again.
  virtual bool keeps_variance() const { return false; }
  virtual StepReport const& last_report() const = 0;
  /// Real steps before the freeze; nothing where there is none, or none yet.
  virtual std::optional<std::int64_t> frozen_after() const { return std::nullopt; }
  /// Before step t: whether it is one of the freeze_surroundings before a freeze that may come, or after one. Depends
  /// on saved state alone.
  virtual bool near_freeze(std::int64_t) const { return false; }
  /// Bytes of the residuals that this rank has for itself from the freeze on, and of what goes with them. For `check`.
  virtual std::int64_t held_bytes() const { return 0; }
  virtual std::int64_t state_bytes() const = 0;            ///< moments and exchange buffers, for `check`
  virtual std::int64_t freeze_bytes() const { return 0; }  ///< of these, what a freeze that is to come allocates
  /// What this rank sends in a step of that phase; nothing where the method has no such phase. For `check`.
  virtual std::optional<SentBytes> predicted_bytes(Phase phase) const = 0;
};

struct OptimizerContext {
  ParameterLayout const& layout;
  ProcessGroups groups;
  Exec exec;
  comm::CommConfig comm;
  std::uint64_t seed = 1;              ///< of the run
  std::int64_t steps = 0;              ///< of the whole run
  std::int64_t rate_warmup_steps = 0;  ///< until the learning rate has reached its peak
};

std::unique_ptr<Optimizer> make_optimizer(OptimizerConfig const& config, OptimizerContext const& context);

}  // namespace bellwether::optim
