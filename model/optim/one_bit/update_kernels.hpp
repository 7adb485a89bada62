// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/memory/block_table.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/one_bit/sign_momentum.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// How the direction u of a step that was made, x <- x - rate u, is told from what it has left behind.
struct MadeStep {
  float const* direction = nullptr;  ///< (n) u itself
  /// Without a direction: (n) v, where u = m / (sqrt(v) + epsilon) + decay x with the x before the step; nullptr: u =
  /// m, which holds the decay.
  float const* variance = nullptr;
  float epsilon = 0;
};

/// Numbers by layer, (tensors) each.
struct UpdateRecord {
  float* weight_norm;  ///< |x| before the step; nullptr: the method has summed this and the next itself
  float* update_norm;  ///< |u|; nullptr as well
  float* momentum_norm;
  float* largest_update;  ///< largest |u_k|
};

/// Numbers by block that measure_update() needs: sums of the squares of x, u, m and the largest |u|.
inline constexpr Index update_sums = 4;

/// After a step: norms of every tensor, in one pass of 12 bytes an element, 8 where u = m or a direction's method has
/// summed the first two norms itself. The x before the step is what the step was made from, x + rate u, to rounding.
/// parameters, momentum: (n), after the step, the momentum in these units where it is bits, with a direction; partial:
/// (update_sums blocks), scratch. Nothing changes where the gradient check says skip.
template <class Space>
void measure_update(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                    MadeStep const& made, double learning_rate, Vec<GradientCheck, Space> const& gradient_check,
                    float const* parameters, HeldMomentum const& momentum, Units const& units,
                    Vec<double, Space> const& partial, UpdateRecord const& record);

/// NaN in place of them, for a step whose numbers nobody wants.
template <class Space>
void forget_update(Space const& exec, Index tensors, Vec<GradientCheck, Space> const& gradient_check,
                   UpdateRecord const& record);

}  // namespace bellwether::optim
