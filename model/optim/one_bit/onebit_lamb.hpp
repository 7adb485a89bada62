// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/one_bit/onebit_kernels.hpp"
#include "model/optim/one_bit/onebit_method.hpp"

namespace bellwether::optim {

/// 1-bit LAMB (Li et al., arXiv 2104.06069, algorithm 1). Up to the freeze it is LAMB, by LAMB's own kernels, and
/// averages each tensor's trust ratio. From then on the variance stays and only signs of momenta cross the network.
/// steer: variance, the paper's rule: a bounded factor r, from a fresh variance fed by the gradients that successive
/// momenta amount to, steers each tensor's averaged ratio. steer: norm: LAMB's own trust ratio of the update that is
/// made, which every rank knows; no fresh variance. Beyond the paper: elements without variance at the freeze are
/// masked, momenta may be brought to common units by element, and clipping goes by an estimate of the norm of the mean
/// gradient.
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
  /// Numbers that the fresh variance goes on from.
  Arena<> const& fresh_before() const;
  /// Of tensors whose trust ratio was never seen.
  void fill_unsampled(Exec const& exec, float average);
  OnebitRecord numbers() const;
  Vec<double> squares() const;  ///< (2 blocks) of norms_
  TrustBounds trust_bounds() const;

  Vec<float> sampled_;  // (tensors) 1: the average has a sample
  Vec<double> norms_;   // (4 blocks)
  std::unique_ptr<Arena<>>
      fresh_;  // from the freeze on, where it steers; holds the momentum until bits are in its place
};

}  // namespace bellwether::optim
