// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"
#include "model/optim/optimizer_config.hpp"

#include <functional>
#include <limits>

namespace bellwether::optim {

/// The newest comparison of the variance with that of the check before it.
struct VarianceCheck {
  std::int64_t step = 0;                                     ///< before which it was made; 0: there was none
  double change = std::numeric_limits<double>::quiet_NaN();  ///< VarianceDrift's; NaN: nothing to compare with yet
};

/// When the variance has settled and may be kept: after a fixed step, or much as 1-bit Adam proposes (Tang et al.,
/// arXiv 2102.02888, section 4.3) once its norm changes little, with the bias of the start taken out. Every D = max(10,
/// 0.1 / (1 - beta2)) steps the norms of the tensors are compared with those of D steps before (VarianceDrift); three
/// changes in a row of at most 4 % decide, not before the rate's warmup is over, nor before the averages of squares and
/// of trust ratios have filled (1 / (1 - beta) steps each), and never after freeze.latest.
class FreezePoint {
 public:
  /// steps: of the whole run. rate_warmup_steps: until the learning rate has reached its peak.
  FreezePoint(OptimizerConfig const& config, std::int64_t steps, std::int64_t rate_warmup_steps);

  /// Whether step t = 1, 2, ... is the first of the compressed phase; asked before each step, again after one that was
  /// skipped. drift(factor): how far factor * v after t - 1 steps is from where it was in the last call, NaN in the
  /// first; equal on all ranks, called where it is needed.
  bool reached(std::int64_t t, std::function<double(double factor)> const& drift);
  /// Before reached() is asked: whether it may say so, for who does not look at the variance.
  bool possible(std::int64_t t) const;
  VarianceCheck last_check() const;
  /// Before step t, not yet frozen: whether t is among the freeze_surroundings steps before a freeze that may come, or
  /// the first after it.
  bool near(std::int64_t t) const;
  void visit_state(StateVisitor& visit);

 private:
  double beta2_;
  std::int64_t fixed_, interval_, earliest_, latest_;  // in steps; fixed_ < 0: chosen while training
  std::int64_t checked_ = 0, calm_ = 0;                // last step checked, small changes in a row
  double change_;
};

}  // namespace bellwether::optim
