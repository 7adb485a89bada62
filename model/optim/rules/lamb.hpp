// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/rules/decoded_kernels.hpp"
#include "model/optim/rules/update_rule.hpp"

namespace bellwether::optim {

/// LAMB (You et al., arXiv 1904.00962) as the 1-bit LAMB paper runs it (Li et al., arXiv 2104.06069). See formulas.hpp
/// for the equations. Memory traffic: 40 bytes an element and step, without the norm of the gradient.
///
/// After a freeze the variance is fixed, and the trust ratio of each tensor comes from one of two rules:
/// - steer: norm uses LAMB's trust ratio of the actual update, which every rank knows.
/// - steer: variance is the paper's. A bounded factor r scales the average of the tensor's ratios before the freeze. It
///   comes from a fresh variance of the gradients reconstructed from successive momenta.
class Lamb final : public UpdateRule {
 public:
  Lamb(OptimizerConfig const& config, OptimizerContext const& context, Freezing freezing);

  std::vector<std::string_view> quantities() const override;
  void begin(Exec const& exec, StepRecord const& record) override;
  void update(RuleStep const& step, ReducedGradient const& gradient) override;
  void visit_state(StateVisitor& visit) override;
  std::int64_t bytes() const override;

  Momentum* momentum() override { return &momentum_; }
  Arena<> const* variance() const override { return &variance_; }
  float const* rate_factors(StepRecord const& record) const override;
  MadeStep made_step(float const* scratch) const override { return {.direction = scratch}; }
  void freeze(Exec const& exec, StepRecord const& record) override;
  std::vector<std::string> freeze_notices(ParameterLayout const& layout) const override;
  void visit_frozen(StateVisitor& visit) override;
  void thaw(Exec const& exec, StepRecord const& record, StateVisitor& visit) override;
  std::int64_t frozen_bytes() const override;

 private:
  void dense_update(RuleStep const& step, float* gradient);
  void frozen_update(RuleStep const& step, ReducedGradient const& gradient);
  void allocate_fresh();
  /// Sets the average of the tensors whose trust ratio has no sample.
  void fill_unsampled(Exec const& exec, StepRecord const& record, float average);
  /// Returns the numbers by tensor of a record; `average` and later ones only if a freeze is possible.
  FrozenLambRecord numbers(StepRecord const& record) const;
  Vec<double> squares() const;  ///< (2 blocks) of norms_
  TrustBounds trust_bounds() const;

  ParameterLayout const& layout_;
  Freezing freezing_;
  Momentum momentum_;
  Arena<> variance_;
  Index blocks_;
  Vec<double> norms_;               // (2 blocks), or (4 blocks) if a freeze is possible
  Vec<float> sampled_;              // (tensors) 1: the average has a sample; empty if no freeze is possible
  std::unique_ptr<Arena<>> fresh_;  // fresh variance from the freeze on, with steer: variance
};

}  // namespace bellwether::optim
