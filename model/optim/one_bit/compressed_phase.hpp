// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/dense_mean.hpp"
#include "comm/compression/hierarchical_allreduce.hpp"
#include "comm/compression/tensor_errors.hpp"
#include "core/memory/arena.hpp"
#include "model/optim/monitor/gradient_sketch.hpp"
#include "model/optim/monitor/step_record.hpp"
#include "model/optim/one_bit/variance_growth.hpp"
#include "model/optim/units.hpp"

#include <optional>
#include <string>

namespace bellwether::optim {

/// What the methods that compress share after the freeze: a gradient check without a mean gradient, the elements that
/// are active, the units of the exchange and the exchange itself. P = data.size().
class CompressedPhase {
 public:
  /// roots: (tensors) where rho, the growth of the kept variance, is and will be recorded: 1 at the freeze; empty:
  /// nowhere.
  CompressedPhase(OptimizerConfig const& config, OptimizerContext const& context, StepRecord& record,
                  Vec<float> const& roots);

  /// Marks what can be compressed and, the first time, measures what units need: once the variance has its last value,
  /// and again after it was read from a checkpoint. Sets the momentum of what is masked to 0. variance: nullptr for
  /// methods without, whose momentum of what is masked holds weight decay and stays. momentum: nullptr where it is kept
  /// in bits and units were read. Waits.
  void survey(Exec const& exec, Arena<> const* variance, Arena<> const* momentum);
  /// Elements that were live in the layout and have no variance, by tensor: "name (12 of 96 elements)"; empty for
  /// none.
  std::string const& without_variance() const { return without_variance_; }

  /// Opens the record's step and judges the gradients before they are exchanged. after_freeze: 1 for the first step
  /// after it, which sketches, as one in config.sketch_every does.
  StepReport& judge(Exec const& exec, Arena<> const& gradients, std::int64_t step, std::int64_t after_freeze);
  /// Mean over ranks of what `form` gives. Where the gradient check says skip, the residuals stay what they were.
  template <class Form>
  comm::Decoded exchange(Exec const& exec, Form const& form, StepReport& report) {
    auto const mean = exchange_.mean(exec, form, &record_.verdict().data()->skip);
    auto const& traffic = exchange_.last_traffic();
    report.sent.exchange = traffic.sent_bytes();
    report.sent.worker = traffic.worker_bytes;
    report.sent.server = traffic.server_bytes;
    report.sent.intra_node += traffic.inside_node_bytes;
    return mean;
  }
  /// After the exchange: comm::CompressionShares into `values`, (its names, tensors); NaN where not wanted.
  void measure_shares(Exec const& exec, bool wanted, float* values, StepReport& report);
  comm::CompressedReport const& last_report() const { return exchange_.last_report(); }
  /// Whether several ranks, or nodes, exchange bits.
  static bool compresses(OptimizerContext const& context);
  /// Whether exchanges leave residuals on this rank that the next one takes up.
  static bool leaves_residuals(OptimizerContext const& context);
  /// Where they do: of how many elements this rank has one; needs no phase.
  static Index residual_count(OptimizerConfig const& config, OptimizerContext const& context);
  /// Where they do: what the last one has left.
  comm::LastMean last_mean() const { return exchange_.last_mean(); }
  Units units(Arena<> const* variance) const;
  std::uint32_t const* active() const { return exchange_.active(); }  ///< (ceil(n / 32))
  void visit_state(StateVisitor& visit);
  /// For a reader that leaves the phase: what was saved of units and residuals is not wanted.
  static void drop_state(StateVisitor& visit);
  std::int64_t bytes() const;
  /// bytes() of one that need not exist yet.
  static std::int64_t predicted_memory(OptimizerConfig const& config, OptimizerContext const& context,
                                       BlockTable<Exec> const& blocks);
  /// What this rank sends in a compressed step that sketches and whose shares by tensor are not wanted.
  static SentBytes predicted_bytes(OptimizerConfig const& config, OptimizerContext const& context);

 private:
  OptimizerConfig config_;
  ParameterLayout const& layout_;
  comm::Communicator& data_;
  StepRecord& record_;
  RandomKey key_;
  /// The scalars of a step and their mean over ranks.
  struct Scalars {
    Scalars(comm::Communicator& data, ScalarLayout const& layout);
    std::int64_t bytes() const;

    ScalarLayout at;
    comm::DenseMean mean;
    Vec<float> values;  // ScalarLayout
  };
  Scalars& scalars_of(std::int64_t after_freeze);

  Scalars with_sketch_;
  std::optional<Scalars> between_sketches_;
  Vec<float> proportion_;  // (1), see check_scalars()
  Vec<float> sketches_;    // (sketch_parts columns)
  Vec<double> squares_;
  comm::HierarchicalAllreduce exchange_;
  comm::CompressionShares shares_;
  std::optional<VarianceGrowth> growth_;
  Vec<float> by_tensor_;         // (tensors) s
  Vec<float> roots_;             // (tensors) rho, 1 where the variance does not grow
  Vec<std::int32_t> tensor_of_;  // (ceil(n / 32))
  Vec<Index> end_;               // (tensors)
  std::string without_variance_;
  bool units_known_ = false;
};

}  // namespace bellwether::optim
