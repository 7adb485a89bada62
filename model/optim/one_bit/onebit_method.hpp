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

/// What 1-bit LAMB, 1-bit Adam and 1-bit SGD are alike in: dense steps up to the freeze, compressed ones after it, and
/// one passes into the other without a word to the trainer. A method says what a step of either kind does with the
/// gradients that were judged. A compressed state that is read with a freeze.step still to come is taken up with dense
/// steps: momentum and variance go on, residuals are dropped, and the freeze is settled anew. Where momenta are
/// exchanged the momentum is what an exchange has left: from the first one on it is kept in bits.
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
  bool keeps_variance() const final { return variance_ && dense_steps_ >= 0; }
  StepReport const& last_report() const final;
  std::optional<std::int64_t> frozen_after() const final;
  bool near_freeze(std::int64_t step) const final;
  std::int64_t held_bytes() const final;
  std::int64_t state_bytes() const final;
  std::int64_t freeze_bytes() const final;
  std::optional<SentBytes> predicted_bytes(Phase phase) const final;

 protected:
  enum class Variance { kept_at_freeze, none };
  /// quantities: numbers by layer that the method's kernels write at every step. Those of UpdateRecord that are not
  /// among them, root_growth, with a variance, and those of comm::CompressionShares follow.
  OnebitMethod(OptimizerConfig const& config, OptimizerContext const& context, Variance variance,
               std::vector<std::string_view> const& quantities);

  /// One update from the mean gradient, in place of which anything may be left.
  virtual void dense_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars) = 0;
  /// One update from this rank's own gradient through compressed().exchange().
  virtual void compressed_update(Exec const& exec, Arena<>& parameters, Arena<>& gradients, StepScalars const& scalars,
                                 StepReport& report) = 0;
  /// After an update in either phase: what it was. gradients: as the update has left them.
  virtual MadeStep made_step(Arena<> const& gradients) const = 0;
  /// (tensors) what multiplies the rate of each in the compressed phase; nullptr: 1.
  virtual float const* rate_factors() const { return nullptr; }
  /// What a gradient of 1 adds up to in the updates of all steps, with a rate of 1.
  virtual double reach() const { return 1; }
  /// Memory of the compressed phase; before its state is read as well.
  virtual void allocate_compressed() {}
  /// Once, when the units of the exchange are known.
  virtual void enter_compressed(Exec const&) {}
  /// Whether enter_compressed() takes give_momentum().
  virtual bool takes_momentum() const { return false; }
  virtual std::vector<std::string> more_notices() const { return {}; }
  virtual void visit_dense(StateVisitor&) {}
  virtual void visit_compressed(StateVisitor&) {}
  /// A compressed state was read up to visit_dense(), and dense steps are next: what else it holds is dropped, what the
  /// phase has changed becomes what it was before the freeze.
  virtual void leave_compressed(Exec const&, StateVisitor&) {}
  virtual std::int64_t more_bytes() const { return 0; }             ///< in either phase
  virtual std::int64_t more_compressed_bytes() const { return 0; }  ///< from allocate_compressed() on

  OptimizerConfig const& config() const { return config_; }
  ParameterLayout const& layout() const { return context_.layout; }
  CompressedPhase& compressed() { return *compressed_; }
  StepRecord const& record() const { return record_; }
  Vec<TensorRule> const& rules() const { return rules_; }
  /// As numbers: before the freeze, and after it where it is not kept in bits.
  float* momentum() const { return momentum_->data(); }
  /// Whether exchanges leave the momentum in bits, which then are kept in place of numbers.
  bool keeps_bits() const { return bits_.has_value(); }
  /// The momentum as the last step has left it.
  HeldMomentum held_momentum() const;
  /// After an exchange, where momenta are kept in bits: what it has made is the momentum.
  void keep_bits(Exec const& exec, comm::Decoded const& mean);
  /// The memory of numbers that the first exchange reads and that nobody needs after it.
  Arena<> give_momentum();
  Arena<> const* variance() const { return variance_ ? &*variance_ : nullptr; }

 private:
  bool looks_ahead() const;
  std::int64_t ahead_bytes() const;
  bool will_keep_bits() const;
  void allocate();
  void survey(Exec const& exec);
  void release_read_momentum();
  void visit_momentum(StateVisitor& visit);
  void visit_bits(StateVisitor& visit);
  std::int64_t dense_bytes() const;       ///< of buffers and numbers up to the freeze
  std::int64_t compressed_bytes() const;  ///< from it on, at most
  std::int64_t momentum_bytes() const;
  void clear_compressed_record(Exec const& exec);
  void take_up_dense_steps(StateVisitor& visit);
  bool freezes(Exec const& exec, std::int64_t step);
  std::vector<std::string> notices() const;
  void measure(Exec const& exec, Arena<> const& parameters, Arena<> const& gradients, StepScalars const& scalars);

  OptimizerConfig config_;
  OptimizerContext context_;
  std::optional<Arena<>> momentum_;   // numbers; none once it is in bits, or while its memory was given away
  float* given_ = nullptr;            // numbers whose memory was given away, until an exchange has read them
  std::optional<SignMomentum> bits_;  // from the freeze on
  std::int64_t read_at_ = 0;          // steps that were made when the numbers that the next exchange reads were formed
  std::optional<Arena<>> variance_;
  Vec<TensorRule> rules_;  // (tensors)
  StepRecord record_;
  bool sums_norms_;                   // weight_norm and update_norm are the method's own
  std::size_t norms_at_;              // first of UpdateRecord among the record's quantities
  std::size_t growth_at_;             // root_growth among the record's quantities
  std::size_t shares_at_;             // first of comm::CompressionShares among the record's quantities
  Vec<double> update_sums_;           // (update_sums blocks)
  std::unique_ptr<DenseStep> dense_;  // up to the freeze
  FreezePoint freeze_point_;
  std::optional<VarianceDrift> drift_;  // with a variance
  std::int64_t dense_steps_ = -1;       // real steps before the freeze; -1: not yet frozen
  std::unique_ptr<CompressedPhase> compressed_;
  std::unique_ptr<StepAhead> ahead_;  // from the freeze on, where residuals are left
  bool survey_due_ = false;           // the exchange does not know yet what is active
  std::int64_t thawed_ = -1;  // dense steps before the freeze that a resume took back, until it is told; -1: none
};

}  // namespace bellwether::optim
