// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/signs.hpp"
#include "model/optim/monitor/step_record.hpp"
#include "model/optim/registry.hpp"
#include "model/optim/rules/momentum.hpp"
#include "model/optim/rules/update_kernels.hpp"
#include "model/optim/tensor_rules.hpp"
#include "model/optim/units.hpp"

namespace bellwether::optim {

/// The result of a step's exchange, which a rule consumes: the mean gradient in memory, or a compressed mean that
/// kernels decode as they read it.
struct ReducedGradient {
  float* values = nullptr;     ///< (n) mean gradient before clipping, which the rule may overwrite; null: compressed
  comm::Decoded decoded = {};  ///< if compressed: the mean of clipped gradients or of momenta, in `units`
  Units units = {};

  bool in_memory() const { return values != nullptr; }
};

/// The step that a rule makes.
struct RuleStep {
  Exec const& exec;
  StepRecord const& record;  ///< blocks, the gradient check, and the rule's numbers by tensor from index 0 on
  Arena<>& parameters;
  float* scratch;  ///< (n) memory that the rule may overwrite; the gradient's if that is in memory
  StepScalars const& scalars;

  /// Returns what kernels need. rules: those of the update rule.
  KernelContext<Exec> context(Vec<TensorRule> const& rules) const {
    return {.table = record.blocks(), .rules = rules, .gradient_check = record.gradient_check()};
  }
};

/// How parameters move, given the reduced gradient of a step. A rule owns its moments. It knows neither ranks nor
/// messages. If the gradient check says skip, an update changes nothing.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  /// Returns the names of the numbers by tensor that update() writes, from index 0 of the record on.
  virtual std::vector<std::string_view> quantities() const { return {}; }
  /// Initialises the rule's numbers by tensor, before the first step or the reading of a checkpoint.
  virtual void begin(Exec const&, StepRecord const&) {}
  /// Makes one update of step.parameters and of the moments.
  virtual void update(RuleStep const& step, ReducedGradient const& gradient) = 0;
  /// Visits all state that exists before a freeze.
  virtual void visit_state(StateVisitor& visit) = 0;
  /// Returns the bytes of the rule's memory before a freeze.
  virtual std::int64_t bytes() const = 0;

  // The rest is for strategies that compress. Its defaults suit a rule without moments.

  /// Returns the momentum; nullptr if the rule has none.
  virtual Momentum* momentum() { return nullptr; }
  /// Returns the variance, which a strategy freezes before it compresses; nullptr if the rule has none.
  virtual Arena<> const* variance() const { return nullptr; }
  /// Returns whether weight decay is part of the gradient, so that ranks exchange clip g + decay x.
  virtual bool decay_in_gradient() const { return false; }
  /// Returns the factors (tensors) of the learning rate after the freeze; nullptr: 1.
  virtual float const* rate_factors(StepRecord const&) const { return nullptr; }
  /// Returns the sum of the updates that a gradient of 1 causes over all steps, at a learning rate of 1.
  virtual double reach() const { return 1; }
  /// Describes the update just made. scratch: as in the step.
  virtual MadeStep made_step(float const* /*scratch*/) const { return {}; }
  /// Freezes the variance. Called before the first compressed step.
  virtual void freeze(Exec const&, StepRecord const&) {}
  /// Returns messages about the freeze for the log.
  virtual std::vector<std::string> freeze_notices(ParameterLayout const&) const { return {}; }
  /// Visits the state that exists only after the freeze. A reader calls it instead of freeze().
  virtual void visit_frozen(StateVisitor&) {}
  /// Drops the state that exists only after the freeze, and continues before it. `visit` is a reader of that state.
  virtual void thaw(Exec const&, StepRecord const&, StateVisitor&) {}
  /// Returns the additional bytes after the freeze, without the momentum's. Valid in any phase.
  virtual std::int64_t frozen_bytes() const { return 0; }

  Vec<TensorRule> const& tensors() const { return tensors_; }  ///< (tensors)

 protected:
  UpdateRule(OptimizerConfig const& config, OptimizerContext const& context)
      : config_(config), tensors_(tensor_rules<Exec>(context.layout, config.weight_decay)) {}

  OptimizerConfig const& config() const { return config_; }
  std::int64_t tensor_bytes() const { return static_cast<std::int64_t>(tensors_.extent(0) * sizeof(TensorRule)); }

 private:
  OptimizerConfig config_;
  Vec<TensorRule> tensors_;
};

/// Constructs the rule of config.method.
inline std::unique_ptr<UpdateRule> make_rule(OptimizerConfig const& config, OptimizerContext const& context,
                                             Freezing freezing) {
  return rule_of(config.method).make(config, context, freezing);
}

}  // namespace bellwether::optim
