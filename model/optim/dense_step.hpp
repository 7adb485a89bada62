// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/mean.hpp"
#include "model/optim/step_record.hpp"

namespace bellwether::optim {

/// The dense exchange of a step: the mean gradient over ranks and the verdict on it, with the mean of the squares of
/// the ranks' own norms.
class DenseStep {
 public:
  DenseStep(OptimizerConfig const& config, OptimizerContext const& context, StepRecord& record);

  /// Opens the record's step. The mean of `gradients` over ranks in place, and the verdict on it.
  StepReport& reduce(Exec const& exec, Arena<>& gradients);
  std::int64_t bytes() const;
  /// What this rank sends in a dense step.
  static SentBytes predicted_bytes(OptimizerContext const& context);

 private:
  comm::Communicator& data_;
  double clip_;
  StepRecord& record_;
  comm::DenseMean mean_;
  comm::DenseMean norm_mean_;
  Vec<double> partial_;  // (blocks)
  Vec<float> norms_;     // (P) norms of the ranks' own gradients; none on one rank
  SentBytes predicted_;
};

}  // namespace bellwether::optim
