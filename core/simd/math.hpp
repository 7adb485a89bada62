// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bits.hpp"
#include "core/simd/device_math.hpp"
#include "core/types.hpp"

/// Marks loops with independent iterations, and sums that may be formed in lanes. Device compilers do not need it.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define BELLWETHER_SIMD
#define BELLWETHER_SIMD_SUM(...)
#define BELLWETHER_SIMD_MAX(...)
#else
#define BELLWETHER_PRAGMA(TEXT) _Pragma(#TEXT)
#define BELLWETHER_SIMD BELLWETHER_PRAGMA(omp simd)
#define BELLWETHER_SIMD_SUM(...) BELLWETHER_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define BELLWETHER_SIMD_MAX(...) BELLWETHER_PRAGMA(omp simd reduction(max : __VA_ARGS__))
#endif

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
KOKKOS_INLINE_FUNCTION float exp(float x) {
#if defined(__CUDA_ARCH__)
  constexpr float log2_e = 1.44269504f, log2_e_rest = 1.92596299e-8f, ln_2 = 0.693147181f;
  x = 88.0f < x ? 88.0f : x;
  float const exponent = x * log2_e;
  float const power = device_math::power_of_two(exponent);
  float const rest = __fmaf_rn(x, log2_e_rest, __fmaf_rn(x, log2_e, -exponent));
  return power == 0 ? 0.0f : __fmaf_rn(power * ln_2, rest, power);
#else
  x = clamp(x, -87.0f, 88.0f);
  constexpr float shifter = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  float const shifted = x * 1.44269504f + shifter;
  float const n = shifted - shifter;
  float const r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // The lowest bits of `shifted` are n. Move them to the exponent, which has a bias of 127.
  return p * from_bits((to_bits(shifted) << 23) + (127u << 23));
#endif
}
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
#if defined(__CUDA_ARCH__)
  // The relative error grows as e^(-z^2) gets small, but the absolute error is at most 5e-8.
  constexpr float half_of_log2_e = 0.72134752f;
  float const gauss = device_math::power_of_two(-half_of_log2_e * x * x);
#else
  float const gauss = exp(-z * z);
#endif
  float const t = device_math::reciprocal(1.0f + 0.3275911f * z);
  float const tail = 0.5f * gauss * t *
                     (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  return {x < 0 ? tail : 1.0f - tail, 0.39894228f * gauss};
}
KOKKOS_INLINE_FUNCTION Normal<double> normal(double x) {
  return {0.5 * Kokkos::erfc(-x * 0.70710678118654752440), 0.39894228040143267794 * Kokkos::exp(-0.5 * x * x)};
}

}  // namespace bellwether::math
