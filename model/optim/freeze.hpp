// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/state_visitor.hpp"
#include "model/optim/optimizer_config.hpp"

#include <functional>
#include <limits>

namespace bellwether::optim {

/// The newest comparison of the variance with its value at the check before.
struct VarianceCheck {
  std::int64_t step = 0;  ///< step before which the check was made; 0: no check yet
  double change =
      std::numeric_limits<double>::quiet_NaN();  ///< VarianceDrift::since_last(); NaN: nothing to compare with yet
};

/// Decides when to freeze the variance: after a fixed step, or once the variance has settled, similar to 1-bit Adam
/// (Tang et al., arXiv 2102.02888, section 4.3). Every D = max(10, 0.1 / (1 - beta2)) steps, bias-corrected sums of the
/// variance by tensor are compared with those of D steps before (VarianceDrift). The variance has settled after three
/// consecutive changes of at most 4 %. The freeze waits until the learning rate's warmup is over and the averages of
/// squares and of trust ratios have seen 1 / (1 - beta) steps each. It comes after freeze.latest at the latest.
class FreezePoint {
 public:
  /// steps: of the whole run. rate_warmup_steps: steps until the learning rate reaches its peak.
  FreezePoint(OptimizerConfig const& config, std::int64_t steps, std::int64_t rate_warmup_steps);

  /// Returns whether step t = 1, 2, ... is the first of the compressed phase. Called before each step, and again after
  /// a skipped step. drift(factor): the change of factor * v since the last call, NaN at the first call. It is called
  /// only if needed, and must return the same value on all ranks.
  bool reached(std::int64_t t, std::function<double(double factor)> const& drift);
  /// Returns whether reached(t) can return true; needs no look at the variance. Called before reached().
  bool possible(std::int64_t t) const;
  VarianceCheck last_check() const;
  /// Returns whether step t of the dense phase is one of the freeze_surroundings steps before a possible freeze, or the
  /// first step after it.
  bool near(std::int64_t t) const;
  void visit_state(StateVisitor& visit);

 private:
  double beta2_;
  std::int64_t fixed_, interval_, earliest_, latest_;  // in steps; fixed_ < 0: chosen during training
  std::int64_t checked_ = 0, calm_ = 0;                // last step checked, consecutive small changes
  double change_;
};

}  // namespace bellwether::optim
