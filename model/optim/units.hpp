// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/math.hpp"
#include "core/types.hpp"
#include "model/optim/optimizer_config.hpp"

namespace bellwether::optim {

/// What is exchanged, and the factor s_k that brings it to one magnitude before it shares a scale: 1 / (rho sqrt(v_k) +
/// epsilon), s of the tensor, or 1. Pointers: variance (n), where elements are unified; by_tensor (tensors), tensor_of
/// (ceil(n / 32)) tensor of the first element of each word, end (tensors) first element behind each, where tensors are.
struct Units {
  Exchange exchange = Exchange::momentum;
  Unify unify = Unify::none;
  float epsilon = 0;
  float const* variance = nullptr;
  float const* by_tensor = nullptr;
  std::int32_t const* tensor_of = nullptr;
  Index const* end = nullptr;
  /// (tensors) rho, what the roots sqrt(v_k) of a tensor have grown by since the freeze.
  float const* growth = nullptr;
  /// Most roots rho sqrt(v_k) + epsilon that an element of a rank's gradient may count; where elements are unified.
  float limit = Kokkos::Experimental::infinity_v<float>;
  /// Share of the momentum's last change that the update adds to the momentum: beta1 makes it Nesterov's.
  float lead = 0;
};

/// A number of each tensor for the elements of one word.
struct ByWord {
  /// number(tensor), for elements [first, last).
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

  /// Within lines of the cache: a vector stored across two cannot be loaded again at once.
  alignas(64) float values[32];
};

KOKKOS_INLINE_FUNCTION std::int32_t tensor_at(Units const& units, Index k) {
  std::int32_t tensor = units.tensor_of[k / 32];
  while (k >= units.end[tensor]) ++tensor;
  return tensor;
}

/// A value of the exchange out of its units: where they are by element, times the root of the variance that they were
/// made with, else over the tensor's number. growth: rho then.
KOKKOS_INLINE_FUNCTION float out_of_units(Units const& units, float value, float growth, float variance,
                                          std::int32_t tensor) {
  if (units.unify == Unify::element) return value * (growth * device_math::root(variance) + units.epsilon);
  return units.unify == Unify::layer ? device_math::quotient(value, units.by_tensor[tensor]) : value;
}

}  // namespace bellwether::optim
