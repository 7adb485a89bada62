// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/dense_step.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// LAMB (You et al., arXiv 1904.00962) as the 1-bit LAMB paper runs it (arXiv 2104.06069): formulas.hpp has the
/// equations. The mean gradient is clipped by its global norm. Traffic of memory: 44 bytes an element and step.
class Lamb final : public Optimizer {
 public:
  Lamb(OptimizerConfig const& config, OptimizerContext const& context);

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
  Vec<double> norms_;  // (2 blocks)
};

}  // namespace bellwether::optim
