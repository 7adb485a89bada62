// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/one_bit/onebit_kernels.hpp"
#include "model/optim/one_bit/onebit_method.hpp"

namespace bellwether::optim {

/// 1-bit LAMB (Li et al., arXiv 2104.06069, algorithm 1). Before the freeze it runs LAMB's kernels and averages each
/// tensor's trust ratio. After it the variance is frozen and only the signs of momenta cross the network. Beyond the
/// paper, elements without variance at the freeze are masked. Momenta may be brought to common units by element.
/// Clipping uses an estimate of the mean gradient's norm.
/// - steer: variance is the paper's rule. A bounded factor r scales each tensor's averaged ratio. It comes from a fresh
///   variance of the gradients reconstructed from successive momenta.
/// - steer: norm uses LAMB's trust ratio of the actual update, which every rank knows. It needs no fresh variance.
class OnebitLamb final : public OnebitMethod {
 public:
  OnebitLamb(OptimizerConfig const& config, OptimizerContext const& context);

 private:
  void dense_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) override;
  void compressed_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars,
                         StepReport& report) override;
  MadeStep made_step(Arena<> const& gradients) const override { return {.direction = gradients.data()}; }
  float const* rate_factors() const override;
  void allocate_compressed() override;
  void enter_compressed(Exec const& exec) override;
  bool takes_momentum() const override { return config().steer == Steer::variance; }
  std::vector<std::string> more_notices() const override;
  void visit_dense(StateVisitor& visit) override;
  void visit_compressed(StateVisitor& visit) override;
  void leave_compressed(Exec const& exec, StateVisitor& visit) override;
  std::int64_t more_bytes() const override;
  std::int64_t more_compressed_bytes() const override;
  /// Returns the fresh variance before the step.
  Arena<> const& fresh_before() const;
  /// Sets the average of the tensors whose trust ratio has no sample.
  void fill_unsampled(Exec const& exec, float average);
  OnebitRecord numbers() const;
  Vec<double> squares() const;  ///< (2 blocks) of norms_
  TrustBounds trust_bounds() const;

  Vec<float> sampled_;  // (tensors) 1: the average has a sample
  Vec<double> norms_;   // (4 blocks)
  std::unique_ptr<Arena<>>
      fresh_;  // fresh variance from the freeze on, with steer: variance; holds the momentum until that is in bits
};

}  // namespace bellwether::optim
