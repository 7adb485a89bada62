// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/tensor_errors.hpp"
#include "core/layout/state_visitor.hpp"
#include "core/memory/arena.hpp"
#include "core/memory/block_table.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/units.hpp"

#include <optional>

namespace bellwether::optim {

/// Where a rank takes its gradients while error feedback holds some of them back: where it would be without. A momentum
/// m = beta1 m + (1 - beta1) g from which residuals e are missing has moved the parameters too little by rate times
///     f_t = beta1 f_(t-1) + (1 - beta1) e_t,
/// as the sum over steps shows, so that the rank computes at x - rate f (in the update's units). With the mean residual
/// of all ranks in place of its own this would be the path of the uncompressed method, bit errors and delay or not.
/// After step-ahead error feedback (Xu, Huo, Huang, arXiv 2008.05823), which has no momentum and takes e itself: there,
/// what is held back at once comes back at once, and steep directions swing up that a heavy ball would bear.
class StepAhead {
 public:
  /// Of this rank's residuals, of elements [first, first + count).
  StepAhead(ParameterLayout const& layout, Index first, Index count);

  /// After an exchange: f follows what it has left, but where the gradient check says skip. It does so when it is next
  /// asked for, in the pass that reads it anyway: until then `last` and `gradient_check` stay what they are, or
  /// update() is called.
  void follow(comm::LastMean const& last, float beta1, Vec<GradientCheck> const& gradient_check);
  /// Has f follow now, 12 bytes an element.
  void update(Exec const& exec);
  /// (n), valid until the next call: x - rate c_l f', with f' out of its units and over the root of the kept variance
  /// where there is one. ratios: (tensors) c_l, nullptr: 1. 12 bytes an element, 8 more where f follows, 4 where the
  /// variance is read.
  float const* point(Exec const& exec, BlockTable<Exec> const& table, Units const& units, float const* ratios,
                     double rate, Arena<> const& parameters);

  /// Of f as it is after update().
  void visit_state(StateVisitor& visit);
  static void drop_state(StateVisitor& visit);
  static std::int64_t predicted_bytes(Index elements, Index count);

 private:
  /// What f has not followed yet.
  struct Owed {
    comm::LastMean last;
    float share;  ///< 1 - beta1
    Vec<GradientCheck> gradient_check;
  };

  Index first_;
  std::optional<Owed> owed_;
  Vec<float> held_back_;  // (count) f
  Arena<> point_;
};

}  // namespace bellwether::optim
