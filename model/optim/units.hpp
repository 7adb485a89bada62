// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/math.hpp"
#include "core/types.hpp"
#include "model/optim/optimizer_config.hpp"

namespace bellwether::optim {

/// The quantity that is exchanged, and the factors s_k that bring its elements to one magnitude before they share a
/// scale. The factor s_k is 1 / (rho sqrt(v_k) + epsilon), a number of the tensor, or 1. Pointers: `variance` (n), with
/// Unify::element. `by_tensor` (tensors), s. `tensor_of` (ceil(n / 32)), tensor of each word's first element. `end`
/// (tensors), first element after each tensor.
struct Units {
  Exchange exchange = Exchange::momentum;
  Unify unify = Unify::none;
  float epsilon = 0;
  float const* variance = nullptr;
  float const* by_tensor = nullptr;
  std::int32_t const* tensor_of = nullptr;
  Index const* end = nullptr;
  /// (tensors) rho, by which the roots sqrt(v_k) of a tensor have grown since the freeze.
  float const* growth = nullptr;
  /// Limit of an element of a rank's gradient, in units of rho sqrt(v_k) + epsilon; with Unify::element.
  float limit = Kokkos::Experimental::infinity_v<float>;
  /// The update adds this multiple of the momentum's last change to the momentum; beta1 yields Nesterov's momentum.
  float lead = 0;
};

/// A number of the tensor of each element in one word.
struct ByWord {
  /// Sets the values to number(tensor) for elements [first, last).
  template <class Number>
  KOKKOS_INLINE_FUNCTION void set(Units const& units, Index first, Index last, Number const& number) {
    std::int32_t tensor = units.tensor_of[first / 32];
    if (units.end[tensor] >= last) {
      float const all = number(tensor);
      for (int lane = 0; lane < 32; ++lane) values[lane] = all;
      return;
    }
    for (int lane = 0; first + lane < last; ++lane) {
      while (first + lane >= units.end[tensor]) ++tensor;
      values[lane] = number(tensor);
    }
  }

  /// Aligned to cache lines, because a vector stored across two lines cannot be loaded again at once.
  alignas(64) float values[32];
};

KOKKOS_INLINE_FUNCTION std::int32_t tensor_at(Units const& units, Index k) {
  std::int32_t tensor = units.tensor_of[k / 32];
  while (k >= units.end[tensor]) ++tensor;
  return tensor;
}

/// Converts a value of the exchange out of its units. With Unify::element it is multiplied by the root of the variance,
/// otherwise divided by the tensor's number. growth: rho when the value was made.
KOKKOS_INLINE_FUNCTION float out_of_units(Units const& units, float value, float growth, float variance,
                                          std::int32_t tensor) {
  if (units.unify == Unify::element) return value * (growth * device_math::root(variance) + units.epsilon);
  return units.unify == Unify::layer ? device_math::quotient(value, units.by_tensor[tensor]) : value;
}

}  // namespace bellwether::optim
