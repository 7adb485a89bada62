// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/one_bit/onebit_method.hpp"

namespace bellwether::optim {

/// SGD with momentum over gradients of one bit, with error feedback at both ends (Seide et al., "1-bit stochastic
/// gradient descent", Interspeech 2014, with one magnitude a chunk as the 1-bit papers have it): m <- beta1 m + mean of
/// (clip g + decay x), x <- x - lr m. The mean is dense up to the freeze. What is masked has no gradient in either
/// phase: it moves by decay alone, through its momentum.
class OnebitSgd final : public OnebitMethod {
 public:
  OnebitSgd(OptimizerConfig const& settings, OptimizerContext const& context)
      : OnebitMethod(settings, context, Variance::none, {}) {}

 private:
  void dense_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) override;
  void compressed_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars,
                         StepReport& report) override;
  MadeStep made_step(Arena<> const&) const override { return {}; }
  double reach() const override { return 1 / (1 - config().beta1); }
};

}  // namespace bellwether::optim
