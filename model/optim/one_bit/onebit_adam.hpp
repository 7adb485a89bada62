// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/one_bit/onebit_method.hpp"

namespace bellwether::optim {

/// 1-bit Adam (Tang et al., arXiv 2102.02888, algorithm 1). Before the freeze: AdamW's kernel with decoupled decay and
/// without bias correction. After it: the variance is frozen and only the signs of momenta cross the network.
class OnebitAdam final : public OnebitMethod {
 public:
  OnebitAdam(OptimizerConfig const& settings, OptimizerContext const& context)
      : OnebitMethod(settings, context, Variance::frozen_at_freeze, {}) {}

 private:
  void dense_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) override;
  void compressed_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars,
                         StepReport& report) override;
  MadeStep made_step(Arena<> const& gradients) const override;
};

}  // namespace bellwether::optim
