// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/optimizer_config.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

/// The scalar formulas of LAMB (You et al., arXiv 1904.00962, algorithm 2) and AdamW (Loshchilov and Hutter, arXiv
/// 1711.05101, algorithm 2). As in the 1-bit LAMB paper (arXiv 2104.06069), epsilon is added outside the root and the
/// whole trust ratio is clamped. The gradient g is the clipped mean gradient. The moments m and v start at zero:
///     m <- beta1 m + (1 - beta1) g          v <- beta2 v + (1 - beta2) g^2
namespace bellwether::optim {

/// The coefficients of one step, rounded once to the type of the arithmetic.
template <class Real>
struct Coefficients {
  Real beta1, beta2;
  Real share1, share2;            ///< 1 - beta, computed in double
  Real correction1, correction2;  ///< 1 / (1 - beta^t) with bias correction, else exactly 1
  Real epsilon;
};

/// The inputs of LAMB's and AdamW's updates for one element.
struct OptimizerElement {
  float gradient, momentum, variance, parameter;
};

/// Computes the coefficients of step t = 1, 2, ...
template <class Real>
Coefficients<Real> coefficients(OptimizerConfig const& config, std::int64_t step) {
  auto const correction = [&](double beta) {
    return config.bias_correction ? 1 / -std::expm1(static_cast<double>(step) * std::log(beta)) : 1.0;
  };
  return {static_cast<Real>(config.beta1),
          static_cast<Real>(config.beta2),
          static_cast<Real>(1 - config.beta1),
          static_cast<Real>(1 - config.beta2),
          static_cast<Real>(correction(config.beta1)),
          static_cast<Real>(correction(config.beta2)),
          static_cast<Real>(config.epsilon)};
}

template <class Real>
KOKKOS_INLINE_FUNCTION Real next_momentum(Coefficients<Real> const& c, Real m, Real g) {
  return c.beta1 * m + c.share1 * g;
}

template <class Real>
KOKKOS_INLINE_FUNCTION Real next_variance(Coefficients<Real> const& c, Real v, Real g) {
  return c.beta2 * v + c.share2 * (g * g);
}

/// Adam's direction m' / (sqrt(v') + epsilon), where m' and v' are the moments times their bias corrections.
template <class Real>
KOKKOS_INLINE_FUNCTION Real adam_direction(Coefficients<Real> const& c, Real m, Real v) {
  return c.correction1 * m / (Kokkos::sqrt(c.correction2 * v) + c.epsilon);
}

/// Returns u = m' / (sqrt(v') + epsilon) + decay x, the direction of LAMB and of AdamW with its decoupled decay. LAMB's
/// step is x <- x - lr c u with the tensor's trust ratio c. AdamW has c = 1.
template <class Real>
KOKKOS_INLINE_FUNCTION Real direction(Coefficients<Real> const& c, Real m, Real v, Real x, Real decay) {
  return adam_direction(c, m, v) + decay * x;
}

/// Returns c = clamp(norm of x / norm of u, least, most), or exactly 1 without clamping if a norm is zero.
KOKKOS_INLINE_FUNCTION double trust_ratio(double weight_norm, double update_norm, double least, double most) {
  if (weight_norm == 0 || update_norm == 0) return 1;
  return Kokkos::fmin(Kokkos::fmax(weight_norm / update_norm, least), most);
}

/// Returns the factor that scales a gradient of this global norm down to `limit`, if it is larger. limit 0: no
/// clipping.
KOKKOS_INLINE_FUNCTION double clip_factor(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1;
}

}  // namespace bellwether::optim
