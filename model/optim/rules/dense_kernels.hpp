// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/formulas.hpp"
#include "model/optim/rules/kernel_context.hpp"

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

/// Arguments of lamb_moments().
struct LambMoments {
  Coefficients<float> coefficients;  ///< of this step
  float const* parameters;           ///< (n) x
  float* gradient;                   ///< (n) g before clipping; receives the direction u
  float* momentum;                   ///< (n) m, updated
  float* variance;                   ///< (n) v, updated
};

/// Arguments of lamb_apply().
struct LambStep {
  double learning_rate;  ///< lr of this step
  float const* ratios;   ///< (tensors) c
  float const* update;   ///< (n) u
  float* parameters;     ///< (n) x, updated
};

/// Arguments of adamw_update().
struct AdamWStep {
  Coefficients<float> coefficients;  ///< of this step
  double learning_rate;              ///< lr of this step
  float const* gradient;             ///< (n) g before clipping
  float* parameters;                 ///< (n) x, updated
  float* momentum;                   ///< (n) m, updated
  float* variance;                   ///< (n) v, updated
};

/// Arguments of sgd_apply().
struct SgdStep {
  float beta1;            ///< share of m that a step keeps
  double learning_rate;   ///< lr of this step
  float const* gradient;  ///< (n) g before clipping
  float* parameters;      ///< (n) x, updated
  float* momentum;        ///< (n) m, updated
};

/// Moments and direction of LAMB over the whole arena, 28 bytes an element. The clipped gradient updates the moments;
/// the direction u overwrites it. norms: (2 blocks), written: squares of x in the first half, of u in the second.
template <class Space>
void lamb_moments(Space const& exec, KernelContext<Space> const& context, LambMoments const& arrays,
                  Vec<double, Space> const& norms);

/// Computes trust ratio and norms of every tensor from the sums by block. All elements count, active or not.
template <class Space>
void lamb_ratios(Space const& exec, KernelContext<Space> const& context, TrustBounds const& bounds,
                 Vec<double, Space> const& norms, LayerRecord const& record);

/// x <- x - lr c u, 12 bytes an element.
template <class Space>
void lamb_apply(Space const& exec, KernelContext<Space> const& context, LambStep const& step);

/// One AdamW step over the whole arena, x <- x - lr (m' / (sqrt(v') + epsilon) + decay x). One launch, 28 bytes an
/// element.
template <class Space>
void adamw_update(Space const& exec, KernelContext<Space> const& context, AdamWStep const& step);

/// One dense step of SGD with momentum: m <- beta1 m + clip g + decay x, x <- x - lr m.
template <class Space>
void sgd_apply(Space const& exec, KernelContext<Space> const& context, SgdStep const& step);

}  // namespace bellwether::optim
