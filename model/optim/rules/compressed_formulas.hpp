// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/device_math.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

/// The scalar formulas of the compressed phase of 1-bit LAMB (Li et al., arXiv 2104.06069, algorithm 1). The momentum m
/// is the one that all ranks share after an exchange. The frozen variance is v, the fresh variance f.
namespace bellwether::optim {

/// Returns the mean gradient that changes the momentum `before` to `now`: (now - beta1 before) / (1 - beta1).
template <class Real>
KOKKOS_INLINE_FUNCTION Real reconstructed_gradient(Real now, Real before, Real beta1, Real share1) {
  if constexpr (std::is_same_v<Real, float>)
    return device_math::quotient(now - beta1 * before, share1);
  else
    return (now - beta1 * before) / share1;
}

/// Returns the momentum `now` plus `lead` times its last change. With lead = beta1 this is Nesterov's momentum, beta1 m
/// + (1 - beta1) g. It has no bias correction, unlike Dozat, "Incorporating Nesterov momentum into Adam", 2016. The
/// look-ahead compensates the delay of error feedback.
template <class Real>
KOKKOS_INLINE_FUNCTION Real led_momentum(Real now, Real before, Real lead) {
  return now + lead * (now - before);
}

/// Returns the limit for an element of one rank's gradient, in roots of the frozen variance. A variance that is updated
/// includes the gradient g before the division by its root, so |g| / sqrt(v) <= 1 / sqrt(1 - beta2) for the mean
/// gradient. A frozen variance has no such bound for rare rows. The noise of one rank's gradient is sqrt(P) times that
/// of the mean. share: multiple of this bound; 0: no limit.
inline double gradient_limit(double share, double beta2, int ranks) {
  return share > 0 ? share * std::sqrt(ranks / (1 - beta2)) : std::numeric_limits<double>::infinity();
}

/// cavg <- beta cavg + (1 - beta) c, without bias correction.
KOKKOS_INLINE_FUNCTION double next_average(double average, double ratio, double beta) {
  return beta * average + (1 - beta) * ratio;
}

/// Bounds of the factor r on a tensor's averaged trust ratio, and its largest relative change in a step.
struct FactorBounds {
  double least, most, threshold;
};

/// Returns r. It should not scale the weight decay in the update, so it is reduced by the decay's share. `ratio`: the
/// largest ratio of the roots of frozen and fresh variance over active elements. `direction_norm`: norm of m / (sqrt(v)
/// + epsilon). `update_norm`: norm of the same plus decay x.
KOKKOS_INLINE_FUNCTION double next_factor(double ratio, double direction_norm, double update_norm, bool decays,
                                          double before, FactorBounds const& bounds) {
  double r = ratio;
  if (decays && update_norm > 0) {
    double const share = Kokkos::fmin(1.0, direction_norm / update_norm);
    r = share * r + (1 - share);
  }
  r = Kokkos::fmax(Kokkos::fmin(r, bounds.most), bounds.least);
  return Kokkos::fmax(Kokkos::fmin(r, before * (1 + bounds.threshold)), before * (1 - bounds.threshold));
}

}  // namespace bellwether::optim
