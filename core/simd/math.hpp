// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compiler.hpp"
#include "core/simd/device_math.hpp"
#include "core/space.hpp"
#include "core/types.hpp"

/// Elementary functions that compilers can vectorise without giving up IEEE semantics elsewhere. The float versions
/// have no branches and no library calls. The double versions call the library; they serve tests by finite differences.
namespace bellwether::math {

/// Returns x limited to [least, most]; NaN stays NaN. Compiles to one instruction per bound. fmax() and fmin() drop NaN
/// and are calls, which prevents vectorisation.
KOKKOS_INLINE_FUNCTION float clamp(float x, float least, float most) {
  x = least > x ? least : x;
  return most < x ? most : x;
}

/// Returns e^x, accurate to 2 ulp, for x clamped to [-87, 88]: range reduction by ln 2 in two parts, Taylor
/// polynomial of degree 7. On NVIDIA GPUs: the power-of-two instruction on x log2 e, corrected for the rounding of
/// that product; 0 below -87.
KOKKOS_INLINE_FUNCTION float exp(float x) { return native::exp(x); }
KOKKOS_INLINE_FUNCTION double exp(double x) { return Kokkos::exp(x); }

/// Returns tanh(x) from exp(); exact sign and limits, absolute error 2e-7.
KOKKOS_INLINE_FUNCTION float tanh(float x) {
  float const e = exp(-2.0f * Kokkos::fabs(x));
  float const t = (1.0f - e) / (1.0f + e);
  return x < 0 ? -t : t;
}
KOKKOS_INLINE_FUNCTION double tanh(double x) { return Kokkos::tanh(x); }

/// Cumulative distribution Phi(x) of the standard normal and its density phi(x).
template <class Real>
struct Normal {
  Real cumulative, density;
};

/// From Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26; absolute error 3e-7.
KOKKOS_INLINE_FUNCTION Normal<float> normal(float x) {
  float const z = Kokkos::fabs(x) * 0.70710678f;
  float const gauss = native::gauss(x, z);
  float const t = device_math::reciprocal(1.0f + 0.3275911f * z);
  float const tail = 0.5f * gauss * t *
                     (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  return {x < 0 ? tail : 1.0f - tail, 0.39894228f * gauss};
}
KOKKOS_INLINE_FUNCTION Normal<double> normal(double x) {
  return {0.5 * Kokkos::erfc(-x * 0.70710678118654752440), 0.39894228040143267794 * Kokkos::exp(-0.5 * x * x)};
}

}  // namespace bellwether::math
