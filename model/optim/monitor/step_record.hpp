// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/device_progress.hpp"
#include "core/memory/block_table.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/optimizer.hpp"

#include <optional>

namespace bellwether::optim {

/// The record of a step that every method keeps: its gradient check and its numbers by layer. They stay in device
/// memory until they are read, so that step() waits for no kernel.
class StepRecord {
 public:
  /// quantities: names of the numbers by layer that the method's kernels write.
  StepRecord(OptimizerConfig const& config, OptimizerContext const& context,
             std::vector<std::string_view> const& quantities);

  /// Call before the first kernel of a step. Returns the report, into which the host writes phase, bytes and notices.
  StepReport& open(Exec const& exec);
  /// Returns the same report, between open() and close().
  StepReport& opened() { return report_; }
  /// Call after the last kernel of the step.
  void close(Exec const& exec);

  BlockTable<Exec> const& blocks() const { return blocks_; }
  Vec<GradientCheck> const& gradient_check() const { return gradient_check_; }
  NormLimit norm_limit() const;  ///< argument of the functions that compute the gradient check
  float* layer(std::size_t quantity) const { return layers_.data() + quantity * tensors_; }  ///< (tensors)
  Vec<float> values(std::size_t quantity) const { return Vec<float>(layer(quantity), tensors_); }

  StepReport const& report() const;
  /// Adds the result of the last step's exchange to its report.
  void set_exchange(comm::CompressedReport const& exchange) const { report_.exchange = exchange; }
  std::int64_t applied_steps() const;  ///< number of steps so far, without skipped ones
  void visit_state(StateVisitor& visit);
  std::int64_t bytes() const;

 private:
  void read_back() const;

  std::size_t tensors_;
  BlockTable<Exec> blocks_;
  Vec<GradientCheck> gradient_check_;  // (1)
  Vec<float> layers_;                  // (quantities tensors)
  std::optional<double> norm_limit_;
  Vec<float> norm_history_;  // (2) if there is a limit
  HostCopy<GradientCheck> host_gradient_check_;
  HostCopy<float> host_layers_;
  DeviceProgress closed_;
  Exec exec_;
  // Only read_back() writes these members: reading a report does not change what the next step does.
  mutable bool pending_ = false;
  mutable StepReport report_;
  mutable std::int64_t applied_ = 0;
  mutable std::int64_t skipped_ = 0;
};

}  // namespace bellwether::optim
