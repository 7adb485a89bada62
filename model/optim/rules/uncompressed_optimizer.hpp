// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/rules/dense_step.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// Base of the methods that average gradients at every step. It owns momentum and variance, and clips the mean gradient
/// by its global norm.
class Uncompressed : public Optimizer {
 public:
  void gradient_ready(Exec const& exec, Arena<>& local_gradients, SliceRange range) final {
    dense_.gradient_ready(exec, local_gradients, range);
  }
  void forget_gradients(Exec const& exec, Arena<>& local_gradients) final {
    dense_.forget_gradients(exec, local_gradients);
  }
  void step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) final;
  Replication replication() const final { return Replication::replicated; }
  void consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const final;
  void visit_state(StateVisitor& visit) final;
  StepReport const& last_report() const final { return record_.report(); }
  std::int64_t state_bytes() const final;
  std::optional<SentBytes> predicted_bytes(Phase phase) const final;

 protected:
  /// quantities: names of the numbers by layer that the method's kernels write.
  Uncompressed(OptimizerConfig const& config, OptimizerContext const& context,
               std::vector<std::string_view> const& quantities);

  /// Makes one update from the mean gradient. May overwrite the gradients.
  virtual void update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) = 0;
  virtual std::int64_t more_bytes() const { return 0; }

  OptimizerConfig const& config() const { return config_; }
  Vec<TensorRule> const& rules() const { return rules_; }
  StepRecord const& record() const { return record_; }
  float* momentum() const { return momentum_.data(); }
  float* variance() const { return variance_.data(); }

 private:
  OptimizerConfig config_;
  SentBytes sent_;  // in each step
  Arena<> momentum_;
  Arena<> variance_;
  Vec<TensorRule> rules_;  // (tensors)
  StepRecord record_;
  DenseStep dense_;
};

/// LAMB (You et al., arXiv 1904.00962) as the 1-bit LAMB paper runs it (arXiv 2104.06069). See formulas.hpp for the
/// equations. Memory traffic: 44 bytes an element and step.
class Lamb final : public Uncompressed {
 public:
  Lamb(OptimizerConfig const& config, OptimizerContext const& context);

 private:
  void update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) override;
  std::int64_t more_bytes() const override;

  Vec<double> norms_;  // (2 blocks)
};

/// AdamW (Loshchilov and Hutter, arXiv 1711.05101): decay decoupled from the gradient and scaled by the learning rate.
/// See formulas.hpp for the equations. Memory traffic: 32 bytes an element and step.
class AdamW final : public Uncompressed {
 public:
  AdamW(OptimizerConfig const& config, OptimizerContext const& context) : Uncompressed(config, context, {}) {}

 private:
  void update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) override;
};

}  // namespace bellwether::optim
