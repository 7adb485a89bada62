// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/dense_step.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// AdamW (Loshchilov and Hutter, arXiv 1711.05101): decay decoupled from the gradient and scaled by the learning rate;
/// formulas.hpp has the equations. The mean gradient is clipped by its global norm. Traffic of memory: 32 bytes an
/// element and step.
class AdamW final : public Optimizer {
 public:
  AdamW(OptimizerConfig const& config, OptimizerContext const& context);

  void gradient_ready(Exec const& exec, Arena<>& local_gradients, SliceRange range) override {
    dense_.gradient_ready(exec, local_gradients, range);
  }
  void step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) override;
  Replication replication() const override { return Replication::replicated; }
  void consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const override;
  void visit_state(StateVisitor& visit) override;
  StepReport const& last_report() const override { return record_.report(); }
  std::int64_t state_bytes() const override;
  std::optional<SentBytes> predicted_bytes(Phase phase) const override;

 private:
  OptimizerConfig config_;
  SentBytes sent_;  // each step
  Arena<> momentum_;
  Arena<> variance_;
  Vec<TensorRule> rules_;  // (tensors)
  StepRecord record_;
  DenseStep dense_;
};

}  // namespace bellwether::optim
