// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/device_progress.hpp"
#include "core/memory/block_table.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/optimizer.hpp"

#include <optional>

namespace bellwether::optim {

/// What every method keeps of a step: the gradient check on its gradient and its numbers by layer, in device memory
/// until somebody asks, so that step() waits for no kernel.
class StepRecord {
 public:
  /// quantities: names of the numbers by layer that the method's kernels write.
  StepRecord(OptimizerConfig const& config, OptimizerContext const& context,
             std::vector<std::string_view> const& quantities);

  /// Before the first kernel of a step. Returns the report for what the host knows itself: phase, bytes, notices.
  StepReport& open(Exec const& exec);
  /// After its last kernel.
  void close(Exec const& exec);

  BlockTable<Exec> const& blocks() const { return blocks_; }
  Vec<GradientCheck> const& verdict() const { return gradient_check_; }
  NormLimit norm_limit() const;  ///< for who forms the gradient check
  float* layer(std::size_t quantity) const { return layers_.data() + quantity * tensors_; }  ///< (tensors)
  Vec<float> values(std::size_t quantity) const { return Vec<float>(layer(quantity), tensors_); }

  StepReport const& report() const;
  /// Adds what the exchange of the last step did to its report.
  void set_exchange(comm::CompressedReport const& exchange) const { report_.exchange = exchange; }
  std::int64_t applied_steps() const;  ///< made so far, skipped ones apart
  void visit_state(StateVisitor& visit);
  std::int64_t bytes() const;

 private:
  void read_back() const;

  std::size_t tensors_;
  BlockTable<Exec> blocks_;
  Vec<GradientCheck> gradient_check_;  // (1)
  Vec<float> layers_;                  // (quantities tensors)
  std::optional<double> norm_limit_;
  Vec<float> norm_history_;  // (2) where there is a limit
  HostCopy<GradientCheck> host_gradient_check_;
  HostCopy<float> host_layers_;
  DeviceProgress closed_;
  Exec exec_;
  // Only read_back() writes these: a question about the past does not change what the next step does.
  mutable bool pending_ = false;
  mutable StepReport report_;
  mutable std::int64_t applied_ = 0;
  mutable std::int64_t skipped_ = 0;
};

}  // namespace bellwether::optim
