// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/rules/kernel_context.hpp"
#include "model/optim/rules/sign_momentum.hpp"

namespace bellwether::optim {

/// Where measure_update() finds the direction u of the last step, x <- x - rate u.
struct MadeStep {
  float const* direction = nullptr;  ///< (n) u itself
  /// If there is no direction: (n) v, with u = m / (sqrt(v) + epsilon) + decay x and x before the step. Null: u = m,
  /// which includes the decay.
  float const* variance = nullptr;
  float epsilon = 0;
};

/// Arguments of measure_update().
struct MeasuredStep {
  MadeStep made;            ///< where its direction is
  double learning_rate;     ///< lr of this step
  float const* parameters;  ///< (n) x after the step
  HeldMomentum momentum;    ///< after the step; a sign momentum needs a direction
  Units units;              ///< of a sign momentum
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
/// computes the first two norms. The x before the step is reconstructed as x + rate u, up to rounding. `partial`:
/// (update_sums blocks) scratch.
template <class Space>
void measure_update(Space const& exec, KernelContext<Space> const& context, MeasuredStep const& step,
                    Vec<double, Space> const& partial, UpdateRecord const& record);

/// Sets the numbers to NaN, for a step whose numbers are not needed.
template <class Space>
void forget_update(Space const& exec, Index tensors, Vec<GradientCheck, Space> const& gradient_check,
                   UpdateRecord const& record);

}  // namespace bellwether::optim
