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

/// Computes the point at which a rank evaluates its gradients in the compressed phase: the parameters it would have
/// without residuals. A momentum m = beta1 m + (1 - beta1) g that lacks residuals e has moved the parameters too
/// little. The difference is the learning rate times
///     h_t = beta1 h_(t-1) + (1 - beta1) e_t.
/// So the rank evaluates gradients at x - rate h, in the update's units. If h used the mean residual of all ranks, this
/// would be exactly the path of the uncompressed method. Based on step-ahead error feedback (Xu, Huo, Huang, arXiv
/// 2008.05823), which has no momentum and uses e itself. With momentum, that correction is applied too fast and makes
/// steep directions oscillate.
class StepAhead {
 public:
  /// For the residuals of this rank, which belong to elements [first, first + count).
  StepAhead(ParameterLayout const& layout, Index first, Index count);

  /// Requests an update of h from the residuals of the last exchange, unless the gradient check says skip. The update
  /// is deferred to point(), which reads h anyway, or to update(). Until then `last` and `gradient_check` must not
  /// change.
  void follow(comm::LastMean const& last, float beta1, Vec<GradientCheck> const& gradient_check);
  /// Makes a requested update of h now, 12 bytes an element.
  void update(Exec const& exec);
  /// Returns the point (n), valid until the next call: x - rate c_l h'. To get h', h is converted out of its units and
  /// divided by the root of the frozen variance, if there is one. `ratios`: (tensors) c_l. Null: 1. Traffic: 12 bytes
  /// an element, 8 more if h is updated, 4 more if the variance is read.
  float const* point(Exec const& exec, BlockTable<Exec> const& table, Units const& units, float const* ratios,
                     double rate, Arena<> const& parameters);

  /// Visits h. Call update() first.
  void visit_state(StateVisitor& visit);
  static void drop_state(StateVisitor& visit);
  static std::int64_t predicted_bytes(Index elements, Index count);

 private:
  /// The arguments of an update of h that was not made yet.
  struct Owed {
    comm::LastMean last;
    float share;  ///< 1 - beta1
    Vec<GradientCheck> gradient_check;
  };

  Index first_;
  std::optional<Owed> owed_;
  Vec<float> mean_residual_;  // (count) h
  Arena<> point_;
};

}  // namespace bellwether::optim
