// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/math.hpp"

namespace bellwether {

/// GELU: x Phi(x), where Phi is the cumulative normal distribution (Hendrycks and Gimpel, arXiv 1606.08415).
struct GeluErf {
  template <class Real>
  KOKKOS_INLINE_FUNCTION static Real value(Real x) {
    return x * math::normal(x).cumulative;
  }
  template <class Real>
  KOKKOS_INLINE_FUNCTION static Real slope(Real x) {
    auto const n = math::normal(x);
    return n.cumulative + x * n.density;
  }
};

/// The tanh approximation of GELU from the same paper.
struct GeluTanh {
  static constexpr double scale = 0.79788456080286535588;  // sqrt(2 / pi)
  static constexpr double cubic = 0.044715;

  template <class Real>
  KOKKOS_INLINE_FUNCTION static Real value(Real x) {
    return Real(0.5) * x * (Real(1) + math::tanh(Real(scale) * (x + Real(cubic) * x * x * x)));
  }
  template <class Real>
  KOKKOS_INLINE_FUNCTION static Real slope(Real x) {
    Real const t = math::tanh(Real(scale) * (x + Real(cubic) * x * x * x));
    Real const inner = Real(scale) * (Real(1) + Real(3 * cubic) * x * x);
    return Real(0.5) * (Real(1) + t) + Real(0.5) * x * (Real(1) - t * t) * inner;
  }
};

}  // namespace bellwether
