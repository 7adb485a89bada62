// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/dense_mean.hpp"
#include "comm/compression/hierarchical_allreduce.hpp"
#include "comm/compression/tensor_errors.hpp"
#include "core/memory/arena.hpp"
#include "model/optim/monitor/gradient_sketch.hpp"
#include "model/optim/monitor/step_record.hpp"
#include "model/optim/strategies/one_bit/variance_growth.hpp"
#include "model/optim/units.hpp"

#include <optional>
#include <string>

namespace bellwether::optim {

/// The part of the compressed phase that all 1-bit methods share. It checks gradients without the mean gradient, knows
/// the active elements and the units of the exchange, and makes the exchange. P = data.size().
class CompressedPhase {
 public:
  /// roots: (tensors) memory of rho, the growth of the frozen variance's roots, 1 at the freeze. Empty: no variance.
  CompressedPhase(OptimizerConfig const& config, OptimizerContext const& context, StepRecord& record,
                  Vec<float> const& roots);

  /// Determines the active elements and, the first time, the units of the exchange. Call it after the variance is
  /// frozen, and again after reading a checkpoint. Sets the momentum of masked elements to 0. Waits. `variance`: null
  /// for methods without one. Their masked momentum contains weight decay and is not changed. `momentum`: null if it is
  /// in bits and the units were read from a checkpoint.
  void survey(Exec const& exec, Arena<> const* variance, Arena<> const* momentum);
  /// Returns the elements that are active in the layout but have no variance, by tensor: "name (12 of 96 elements)".
  /// Empty if there are none.
  std::string const& without_variance() const { return without_variance_; }

  /// Opens the record's step, and averages over ranks the scalars that the gradient check needs. after_freeze: 1 for
  /// the first step after the freeze. That step and every config.sketch_every-th after it compute a sketch.
  StepReport& reduce(Exec const& exec, Arena<> const& gradients, std::int64_t step, std::int64_t after_freeze);
  /// Checks the gradients from the scalars of the last reduce().
  void check_gradient(Exec const& exec);
  /// Returns the mean over ranks of `form`. If the gradient check says skip, the residuals do not change.
  template <class Form>
  comm::Decoded exchange(Exec const& exec, Form const& form) {
    auto const mean = exchange_.mean(exec, form, &record_.gradient_check().data()->skip);
    auto const& traffic = exchange_.last_traffic();
    auto& sent = record_.opened().sent;
    sent.exchange = traffic.sent_bytes();
    sent.worker = traffic.worker_bytes;
    sent.server = traffic.server_bytes;
    sent.intra_node += traffic.intra_node_bytes;
    return mean;
  }
  /// Writes comm::CompressionShares of the last exchange to `values` (its names, tensors), or NaN if not wanted.
  void measure_shares(Exec const& exec, bool wanted, float* values);
  comm::CompressedReport const& last_report() const { return exchange_.last_report(); }
  /// Returns whether the exchange compresses, which it does with several ranks, or with node groups, several nodes.
  static bool compresses(OptimizerContext const& context);
  /// Returns whether exchanges leave residuals on this rank for the next exchange.
  static bool leaves_residuals(OptimizerContext const& context);
  /// Returns the number of elements for which this rank has residuals, if it has any. Valid in any phase.
  static Index residual_count(OptimizerConfig const& config, OptimizerContext const& context);
  /// Returns the result and the residuals of the last exchange, if there are residuals.
  comm::LastMean last_mean() const { return exchange_.last_mean(); }
  Units units(Arena<> const* variance) const;
  std::uint32_t const* active() const { return exchange_.active(); }  ///< (ceil(n / 32))
  void visit_state(StateVisitor& visit);
  /// Drops the saved units and residuals while reading a checkpoint that returns to the dense phase.
  static void drop_state(StateVisitor& visit);
  std::int64_t bytes() const;
  /// Returns bytes() of a phase that is not constructed yet.
  static std::int64_t predicted_memory(OptimizerConfig const& config, OptimizerContext const& context,
                                       BlockTable<Exec> const& blocks);
  /// Returns what this rank sends in a compressed step with a sketch and without shares by tensor.
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
    float* by_tensor() const { return values.data() + at.tensors(); }

    ScalarLayout at;
    comm::DenseMean mean;
    Vec<float> values;  // see ScalarLayout
  };
  Scalars& scalars_of(std::int64_t after_freeze);

  Scalars with_sketch_;
  std::optional<Scalars> between_sketches_;
  Scalars* reduced_ = nullptr;   // of the last reduce()
  Vec<float> proportion_;        // (1), see check_scalars()
  std::int64_t sketch_ranks_;    // number of ranks for which proportion_ was measured; 0: unknown
  std::int64_t sketch_at_ = -1;  // the step after the freeze that measures it for another number; -1: none
  Vec<float> sketches_;          // (sketch_parts columns)
  Vec<double> squares_;
  comm::HierarchicalAllreduce exchange_;
  comm::CompressionShares shares_;
  std::optional<VarianceGrowth> growth_;
  Vec<float> by_tensor_;         // (tensors) s
  Vec<float> roots_;             // (tensors) rho, 1 if the variance does not grow
  Vec<std::int32_t> tensor_of_;  // (ceil(n / 32)) tensor of each word's first element
  Vec<Index> end_;               // (tensors)
  std::string without_variance_;
  bool units_known_ = false;
};

}  // namespace bellwether::optim
