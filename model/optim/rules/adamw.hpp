// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/rules/update_rule.hpp"

namespace bellwether::optim {

/// AdamW (Loshchilov and Hutter, arXiv 1711.05101): decay decoupled from the gradient and scaled by the learning rate.
/// See formulas.hpp for the equations. Memory traffic: 28 bytes an element and step, without the norm of the gradient.
/// After a freeze the variance is fixed, as in 1-bit Adam (Tang et al., arXiv 2102.02888, algorithm 1).
class AdamW final : public UpdateRule {
 public:
  AdamW(OptimizerConfig const& config, OptimizerContext const& context);

  void update(RuleStep const& step, ReducedGradient const& gradient) override;
  void visit_state(StateVisitor& visit) override;
  std::int64_t bytes() const override;

  Momentum* momentum() override { return &momentum_; }
  Arena<> const* variance() const override { return &variance_; }
  MadeStep made_step(float const* scratch) const override;

 private:
  void decoded_update(RuleStep const& step, ReducedGradient const& gradient);

  Momentum momentum_;
  Arena<> variance_;
  bool wrote_direction_ = false;  // the last update wrote its direction to the scratch
};

}  // namespace bellwether::optim
