// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/rules/update_rule.hpp"
#include "model/optim/strategies/average/dense_step.hpp"

namespace bellwether::optim {

/// Strategy average: at every step ranks average their gradients, and each makes the same update. The mean gradient is
/// clipped by its global norm. Segments of the mean are sent while backward computes others.
class Average final : public Optimizer {
 public:
  Average(OptimizerConfig const& config, OptimizerContext const& context);

  void gradient_ready(Exec const& exec, Arena<>& local_gradients, SliceRange range) override {
    dense_.gradient_ready(exec, local_gradients, range);
  }
  void forget_gradients(Exec const& exec, Arena<>& local_gradients) override {
    dense_.forget_gradients(exec, local_gradients);
  }
  void reduce(Exec const& exec, Arena<>& local_gradients, StepScalars const& scalars) override;
  void check_gradient(Exec const& exec, Arena<> const& gradients) override { dense_.check_gradient(exec, gradients); }
  void update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) override;
  Replication replication() const override { return Replication::replicated; }
  void consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const override;
  void visit_state(StateVisitor& visit) override;
  StepReport const& last_report() const override { return record_.report(); }
  std::int64_t state_bytes() const override { return rule_->bytes() + record_.bytes() + dense_.bytes(); }
  std::optional<SentBytes> predicted_bytes(Phase phase) const override;

 private:
  ParameterLayout const& layout_;
  SentBytes sent_;  // in each step
  std::unique_ptr<UpdateRule> rule_;
  StepRecord record_;
  DenseStep dense_;
};

}  // namespace bellwether::optim
