// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/mean.hpp"
#include "core/block_table.hpp"
#include "model/optim/gradient_verdict.hpp"
#include "model/optim/optimizer.hpp"

namespace bellwether::optim {

/// What the dense methods share: the mean gradient over ranks, the verdict on it, the counts and the report of the last
/// step. The report stays in device memory until somebody asks: step() waits for no kernel. P = data.size().
class DenseStep {
 public:
  /// with_layers: the method has a trust ratio and norms for every tensor.
  DenseStep(OptimizerConfig const& config, OptimizerContext const& context, bool with_layers);

  /// The mean of `gradients` over ranks in place, and the verdict on it.
  void reduce(Exec const& exec, Arena<>& gradients);
  /// Call after the last kernel of a step.
  void finish(Exec const& exec);

  BlockTable<Exec> const& blocks() const { return blocks_; }
  Vec<Verdict> const& verdict() const { return verdict_; }
  Vec<float> const& layers() const { return layers_; }  ///< (3 tensors): trust ratio, norm of x, norm of u

  StepReport const& report() const;
  void visit_state(StateVisitor& visit);
  std::int64_t bytes() const;

 private:
  void settle() const;

  comm::Communicator& data_;
  double clip_;
  BlockTable<Exec> blocks_;
  comm::DenseMean mean_;
  Vec<double> partial_;   // (blocks)
  Vec<Verdict> verdict_;  // (1)
  Vec<float> layers_;
  Vec<Verdict>::host_mirror_type host_verdict_;
  Vec<float>::host_mirror_type host_layers_;
  Exec exec_;
  // Only settle() writes these: a question about the past does not change what the next step does.
  mutable bool pending_ = false;
  mutable StepReport report_;
  mutable std::int64_t applied_ = 0;
  mutable std::int64_t skipped_ = 0;
};

}  // namespace bellwether::optim
