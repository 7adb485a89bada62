// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/memory/block_table.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// Bounds of the trust ratio.
struct TrustBounds {
  double least, most;
};

/// Results of a step by tensor, (tensors) floats each, adjacent in one buffer.
struct LayerRecord {
  float* trust_ratio;
  float* weight_norm;
  float* update_norm;
};

/// Moments and direction of LAMB over the whole arena, 28 bytes an element. parameters, gradient, momentum, variance:
/// (n). The clipped gradient updates the moments; the direction u overwrites it. norms: (2 blocks), written: squares of
/// x in the first half, of u in the second. Nothing changes if the gradient check says skip.
template <class Space>
void lamb_moments(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                  Coefficients<float> const& coefficients, Vec<GradientCheck, Space> const& gradient_check,
                  float const* parameters, float* gradient, float* momentum, float* variance,
                  Vec<double, Space> const& norms);

/// Computes trust ratio and norms of every tensor from the sums by block. All elements count, active or not.
template <class Space>
void lamb_ratios(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                 TrustBounds const& bounds, Vec<GradientCheck, Space> const& gradient_check,
                 Vec<double, Space> const& norms, LayerRecord const& record);

/// x <- x - lr c u, 12 bytes an element. parameters, update: (n).
template <class Space>
void lamb_apply(Space const& exec, BlockTable<Space> const& table, double learning_rate,
                Vec<GradientCheck, Space> const& gradient_check, LayerRecord const& record, float const* update,
                float* parameters);

/// One AdamW step over the whole arena, x <- x - lr (m' / (sqrt(v') + epsilon) + decay x). One launch, 28 bytes an
/// element. parameters, gradient, momentum, variance: (n). Nothing changes if the gradient check says skip.
template <class Space>
void adamw_update(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                  Coefficients<float> const& coefficients, double learning_rate,
                  Vec<GradientCheck, Space> const& gradient_check, float const* gradient, float* parameters,
                  float* momentum, float* variance);

/// One dense step of SGD with momentum: m <- beta1 m + clip g + decay x, x <- x - lr m.
template <class Space>
void sgd_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules, float beta1,
               double learning_rate, Vec<GradientCheck, Space> const& gradient_check, float const* gradient,
               float* parameters, float* momentum);

}  // namespace bellwether::optim
