// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/memory/block_table.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/rules/sign_momentum.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// Where measure_update() finds the direction u of the last step, x <- x - rate u.
struct MadeStep {
  float const* direction = nullptr;  ///< (n) u itself
  /// If there is no direction: (n) v, with u = m / (sqrt(v) + epsilon) + decay x and x before the step. Null: u = m,
  /// which includes the decay.
  float const* variance = nullptr;
  float epsilon = 0;
};

/// Numbers by layer, (tensors) each.
struct UpdateRecord {
  float* weight_norm;  ///< |x| before the step; nullptr: the method computes this and the next
  float* update_norm;  ///< |u|; nullptr likewise
  float* momentum_norm;
  float* largest_update;  ///< largest |u_k|
};

/// Numbers by block in measure_update()'s scratch: sums of the squares of x, u, m, and the largest |u|.
inline constexpr Index update_sums = 4;

/// Computes the norms of every tensor after a step. One pass of 12 bytes an element, or 8 if u = m or the method
/// computes the first two norms. The x before the step is reconstructed as x + rate u, up to rounding. `parameters`,
/// `momentum`: (n), after the step. A sign momentum needs a direction and is in these units. `partial`: (update_sums
/// blocks) scratch. Nothing changes if the gradient check says skip.
template <class Space>
void measure_update(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                    MadeStep const& made, double learning_rate, Vec<GradientCheck, Space> const& gradient_check,
                    float const* parameters, HeldMomentum const& momentum, Units const& units,
                    Vec<double, Space> const& partial, UpdateRecord const& record);

/// Sets the numbers to NaN, for a step whose numbers are not needed.
template <class Space>
void forget_update(Space const& exec, Index tensors, Vec<GradientCheck, Space> const& gradient_check,
                   UpdateRecord const& record);

}  // namespace bellwether::optim
