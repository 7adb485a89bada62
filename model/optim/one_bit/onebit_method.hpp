// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/freeze.hpp"
#include "model/optim/one_bit/compressed_phase.hpp"
#include "model/optim/one_bit/sign_momentum.hpp"
#include "model/optim/one_bit/step_ahead.hpp"
#include "model/optim/one_bit/update_kernels.hpp"
#include "model/optim/one_bit/variance_growth.hpp"
#include "model/optim/rules/dense_step.hpp"

#include <optional>

namespace bellwether::optim {

/// Base of 1-bit LAMB, 1-bit Adam and 1-bit SGD: dense steps before the freeze and compressed ones after it. The
/// trainer does not notice the change. A method defines what either step does with checked gradients. A checkpoint of
/// the compressed phase can be resumed with a later freeze.step. Then dense steps continue with momentum and variance,
/// residuals are dropped, and a new freeze follows. If momenta are exchanged, the exchange's result is the momentum,
/// and it is stored in bits from the first exchange on.
class OnebitMethod : public Optimizer {
 public:
  void gradient_ready(Exec const& exec, Arena<>& local_gradients, SliceRange range) final;
  void forget_gradients(Exec const& exec, Arena<>& local_gradients) final {
    if (dense_) dense_->forget_gradients(exec, local_gradients);
  }
  void step(Exec const& exec, Arena<>& parameters, Arena<>& local_gradients, StepScalars const& scalars) final;
  float const* gradient_point(Exec const& exec, Arena<> const& parameters, double learning_rate) final;
  Replication replication() const final { return Replication::replicated; }
  void consensus(Exec const& exec, Arena<> const& mine, Arena<>& out) const final;
  void visit_state(StateVisitor& visit) final;
  bool freezes_variance() const final { return variance_ && dense_steps_ >= 0; }
  StepReport const& last_report() const final;
  std::optional<std::int64_t> frozen_after() const final;
  bool near_freeze(std::int64_t step) const final;
  std::int64_t residual_bytes() const final;
  std::int64_t state_bytes() const final;
  std::int64_t freeze_bytes() const final;
  std::optional<SentBytes> predicted_bytes(Phase phase) const final;

 protected:
  enum class Variance { frozen_at_freeze, none };
  /// quantities: numbers by layer that the method's kernels write at every step. The record adds the rest of
  /// UpdateRecord, root_growth if there is a variance, and comm::CompressionShares.
  OnebitMethod(OptimizerConfig const& config, OptimizerContext const& context, Variance variance,
               std::vector<std::string_view> const& quantities);

  /// Makes one update from the mean gradient. May overwrite the gradients.
  virtual void dense_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) = 0;
  /// Makes one update from this rank's local gradient through compressed().exchange().
  virtual void compressed_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars,
                                 StepReport& report) = 0;
  /// Describes the update just made, in either phase. gradients: after the update.
  virtual MadeStep made_step(Arena<> const& gradients) const = 0;
  /// Returns the factors (tensors) of the learning rate in the compressed phase; nullptr: 1.
  virtual float const* rate_factors() const { return nullptr; }
  /// Returns the sum of the updates that a gradient of 1 causes over all steps, at a learning rate of 1.
  virtual double reach() const { return 1; }
  /// Allocates the memory of the compressed phase. Also called before its state is read.
  virtual void allocate_compressed() {}
  /// Called once, when the units of the exchange are known.
  virtual void enter_compressed(Exec const&) {}
  /// Returns whether enter_compressed() calls give_momentum().
  virtual bool takes_momentum() const { return false; }
  virtual std::vector<std::string> more_notices() const { return {}; }
  virtual void visit_dense(StateVisitor&) {}
  virtual void visit_compressed(StateVisitor&) {}
  /// Called when a compressed state was read up to visit_dense() and dense steps follow. Drops the rest of the state
  /// and resets what the compressed phase changed.
  virtual void leave_compressed(Exec const&, StateVisitor&) {}
  virtual std::int64_t more_bytes() const { return 0; }             ///< in either phase
  virtual std::int64_t more_compressed_bytes() const { return 0; }  ///< from allocate_compressed() on

  OptimizerConfig const& config() const { return config_; }
  ParameterLayout const& layout() const { return context_.layout; }
  CompressedPhase& compressed() { return *compressed_; }
  StepRecord const& record() const { return record_; }
  Vec<TensorRule> const& rules() const { return rules_; }
  /// Returns the momentum in numbers. Valid before the freeze, and after it unless the momentum is in bits.
  float* momentum() const { return momentum_->data(); }
  /// Returns whether the momentum is stored in bits after the first exchange.
  bool keeps_bits() const { return bits_.has_value(); }
  /// Returns the momentum after the last step.
  HeldMomentum held_momentum() const;
  /// Makes the result of an exchange the momentum, if momenta are stored in bits.
  void keep_bits(Exec const& exec, comm::Decoded const& mean);
  /// Gives away the memory of the momentum's numbers, which only the first exchange still reads.
  Arena<> give_momentum();
  Arena<> const* variance() const { return variance_ ? &*variance_ : nullptr; }

 private:
  bool steps_ahead() const;
  std::int64_t ahead_bytes() const;
  bool will_keep_bits() const;
  void allocate();
  void survey(Exec const& exec);
  void release_read_momentum();
  void visit_momentum(StateVisitor& visit);
  void visit_bits(StateVisitor& visit);
  std::int64_t dense_bytes() const;       ///< buffers and momentum before the freeze
  std::int64_t compressed_bytes() const;  ///< after the freeze, at most
  std::int64_t momentum_bytes() const;
  void clear_compressed_record(Exec const& exec);
  void take_up_dense_steps(StateVisitor& visit);
  bool freezes(Exec const& exec, std::int64_t step);
  std::vector<std::string> notices() const;
  void measure(Exec const& exec, Arena<> const& parameters, Arena<> const& gradients, StepScalars const& scalars);

  OptimizerConfig config_;
  OptimizerContext context_;
  std::optional<Arena<>> momentum_;   // numbers; empty once in bits, or after their memory was given away
  float* given_ = nullptr;            // numbers whose memory was given away, until an exchange has read them
  std::optional<SignMomentum> bits_;  // after the freeze
  std::int64_t read_at_ = 0;          // number of steps when the numbers that the next exchange reads were computed
  std::optional<Arena<>> variance_;
  Vec<TensorRule> rules_;  // (tensors)
  StepRecord record_;
  bool sums_norms_;                   // the method computes weight_norm and update_norm
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
