// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/rules/update_rule.hpp"

namespace bellwether::optim {

/// SGD with momentum: m <- beta1 m + clip g + decay x, x <- x - lr m. Weight decay is part of the gradient, so a
/// compressed exchange contains it. Elements that an exchange masks have no gradient. They move by weight decay only,
/// through their momentum.
class Sgd final : public UpdateRule {
 public:
  Sgd(OptimizerConfig const& config, OptimizerContext const& context);

  void update(RuleStep const& step, ReducedGradient const& gradient) override;
  void visit_state(StateVisitor& visit) override { momentum_.visit_state(visit); }
  std::int64_t bytes() const override { return momentum_.number_bytes() + tensor_bytes(); }

  Momentum* momentum() override { return &momentum_; }
  bool decay_in_gradient() const override { return true; }
  double reach() const override { return 1 / (1 - config().beta1); }

 private:
  Momentum momentum_;
};

}  // namespace bellwether::optim
