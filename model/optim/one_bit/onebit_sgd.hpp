// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/one_bit/onebit_method.hpp"

namespace bellwether::optim {

/// SGD with momentum over 1-bit gradients: m <- beta1 m + mean of (clip g + decay x), x <- x - lr m. It has error
/// feedback on both sides (Seide et al., "1-bit stochastic gradient descent", Interspeech 2014). As in the 1-bit
/// papers, each chunk has one magnitude. The mean is dense before the freeze. Masked elements have no gradient in
/// either phase. They move by weight decay only, through their momentum.
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
