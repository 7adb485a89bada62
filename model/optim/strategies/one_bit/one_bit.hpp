// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/freeze.hpp"
#include "model/optim/rules/update_rule.hpp"
#include "model/optim/strategies/average/dense_step.hpp"
#include "model/optim/strategies/one_bit/compressed_phase.hpp"
#include "model/optim/strategies/one_bit/step_ahead.hpp"

#include <optional>

namespace bellwether::optim {

/// Strategy one_bit: before the freeze, ranks average gradients. After it they exchange one bit an element with error
/// feedback at both ends, and the variance of the rule is fixed. With LAMB this is 1-bit LAMB (Li et al., arXiv
/// 2104.06069, algorithm 1), with AdamW 1-bit Adam (Tang et al., arXiv 2102.02888, algorithm 1), with SGD 1-bit SGD
/// (Seide et al., "1-bit stochastic gradient descent", Interspeech 2014). Beyond the papers, elements without variance
/// at the freeze are masked, values may be brought to common units by element, and clipping uses an estimate of the
/// mean gradient's norm.
///
/// The trainer does not notice the freeze. A checkpoint of the compressed phase can be resumed with a later
/// freeze.step: dense steps continue with momentum and variance, residuals are dropped, and a new freeze follows. If
/// momenta are exchanged, the result is the momentum, which is stored in bits from the first exchange on.
class OneBit final : public Optimizer {
 public:
  OneBit(OptimizerConfig const& config, OptimizerContext const& context);

  void gradient_ready(Exec const& exec, Arena<>& local_gradients, SliceRange range) override;
  void forget_gradients(Exec const& exec, Arena<>& local_gradients) override {
    if (dense_) dense_->forget_gradients(exec, local_gradients);
  }
  void reduce(Exec const& exec, Arena<>& local_gradients, StepScalars const& scalars) override;
  void check_gradient(Exec const& exec, Arena<> const& gradients) override;
  void update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) override;
  float const* gradient_point(Exec const& exec, Arena<> const& parameters, double learning_rate) override;
  Replication replication() const override { return Replication::replicated; }
  void consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const override;
  void visit_state(StateVisitor& visit) override;
  bool freezes_variance() const override { return rule_->variance() != nullptr && compressing(); }
  StepReport const& last_report() const override;
  std::optional<std::int64_t> frozen_after() const override;
  bool near_freeze(std::int64_t step) const override;
  std::int64_t residual_bytes() const override;
  std::int64_t state_bytes() const override;
  std::int64_t freeze_bytes() const override;
  std::optional<SentBytes> predicted_bytes(Phase phase) const override;

 private:
  bool compressing() const { return dense_steps_ >= 0; }
  bool steps_ahead() const;
  bool will_keep_bits() const;
  /// Frees the momentum's numbers once an applied step has replaced them. Waits for the last step.
  void free_read_momentum();
  bool reaches_freeze(Exec const& exec, std::int64_t step);
  void freeze(Exec const& exec, std::int64_t step);
  void allocate_compressed();
  void survey(Exec const& exec);
  /// Returns the mean over ranks of this rank's contribution.
  comm::Decoded exchange(Exec const& exec, Arena<> const& parameters, Arena<> const& gradients,
                         StepScalars const& scalars);
  void measure(Exec const& exec, Arena<> const& parameters, Arena<> const& gradients, StepScalars const& scalars);
  void clear_compressed_record(Exec const& exec);
  void return_to_dense_steps(StateVisitor& visit);
  std::vector<std::string> freeze_notices() const;

  std::int64_t dense_bytes() const;       ///< of buffers and momentum before the freeze
  std::int64_t compressed_bytes() const;  ///< of the same after the freeze, at most
  std::int64_t momentum_bytes() const;    ///< after the freeze, at most
  std::int64_t ahead_bytes() const;

  OptimizerConfig config_;
  OptimizerContext context_;
  std::unique_ptr<UpdateRule> rule_;
  StepRecord record_;
  bool sums_norms_;                   // the rule computes weight_norm and update_norm
  std::size_t norms_at_;              // index of UpdateRecord's first quantity in the record
  std::size_t growth_at_;             // index of root_growth in the record
  std::size_t shares_at_;             // index of the first quantity of comm::CompressionShares in the record
  Vec<double> update_sums_;           // (update_sums blocks)
  std::unique_ptr<DenseStep> dense_;  // before the freeze
  FreezePoint freeze_point_;
  std::optional<VarianceDrift> drift_;  // if there is a variance
  std::int64_t dense_steps_ = -1;       // real steps before the freeze; -1: not frozen yet
  std::unique_ptr<CompressedPhase> compressed_;
  std::unique_ptr<StepAhead> ahead_;  // after the freeze, if there are residuals
  bool survey_due_ = false;           // the exchange does not know the active elements yet
  std::int64_t thawed_ = -1;          // dense steps before a freeze that a resume undid, until reported; -1: none
};

}  // namespace bellwether::optim
