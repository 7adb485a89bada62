// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/math.hpp"
#include "core/simd/pack_access.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/rules/sign_momentum.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// This rank's contribution to the exchange in the common units: s_k clip g, or s_k (beta1 m + (1 - beta1) clip g).
/// `exchange`, `unify`: those of the units. With Unify::element, clip g is clamped to their limit. `in_bits`: the
/// momentum m is read from bits.
template <Exchange exchange, Unify unify, bool in_bits>
struct ExchangeForm {
  Units units;
  float beta1, share1;
  HeldMomentum momentum;
  float const* gradient;
  GradientCheck const* gradient_check;
  float clip = 0;               ///< of the current word or block
  ByWord factors = {};          ///< of the same: s with Unify::layer, rho with Unify::element
  ByWord grown = {};            ///< of the same: rho of the momentum's bits, with Unify::element
  comm::DecodedWord word = {};  ///< of the same: the momentum's bits

  KOKKOS_INLINE_FUNCTION void begin_word(Index first, Index last) {
    clip = static_cast<float>(gradient_check->clip_factor);
    if constexpr (unify != Unify::none)
      factors.set(units, first, last, [&](std::int32_t tensor) { return by_tensor(tensor); });
    if constexpr (in_bits) word = momentum.bits.mean.word(comm::word_of(first));
    if constexpr (in_bits && unify == Unify::element)
      grown.set(units, first, last, [&](std::int32_t tensor) { return momentum.bits.growth[tensor]; });
  }
  KOKKOS_INLINE_FUNCTION float at(Index k, int lane) const {
    float sent = 0;
    if constexpr (in_bits) sent = word(lane);
    return in_units(element(k), clip, factors.values[lane], sent, grown.values[lane]);
  }
  /// Returns whether all elements of the block belong to one tensor.
  KOKKOS_INLINE_FUNCTION bool begin_block(Index first, Index last) {
    clip = static_cast<float>(gradient_check->clip_factor);
    if constexpr (unify == Unify::none) return true;
    std::int32_t const tensor = tensor_at(units, first);
    factors.values[0] = by_tensor(tensor);
    if constexpr (in_bits && unify == Unify::element) grown.values[0] = momentum.bits.growth[tensor];
    return units.end[tensor] >= last;
  }
  template <int n>
  KOKKOS_INLINE_FUNCTION void of_block(Index k, float (&values)[n]) const {
    float g[n], variance[n] = {}, number[n] = {};
    load(gradient + k, g);
    if constexpr (by_root) load(units.variance + k, variance);
    if constexpr (by_number) load(momentum.numbers + k, number);
    comm::DecodedWord sent;
    if constexpr (in_bits) sent = momentum.bits.mean.word_from(k);
    BELLWETHER_UNROLL
    for (int e = 0; e < n; ++e)
      values[e] = in_units({g[e], variance[e], number[e]}, clip, factors.values[0], sent(e), grown.values[0]);
  }
  KOKKOS_INLINE_FUNCTION float operator()(Index k) const {
    float factor = 1, sent = 0, growth = 1;
    if constexpr (unify != Unify::none) factor = by_tensor(tensor_at(units, k));
    if constexpr (in_bits) sent = momentum.bits.mean(k);
    if constexpr (in_bits && unify == Unify::element) growth = momentum.bits.growth[tensor_at(units, k)];
    return in_units(element(k), static_cast<float>(gradient_check->clip_factor), factor, sent, growth);
  }

 private:
  static constexpr bool by_root = unify == Unify::element, by_number = exchange == Exchange::momentum && !in_bits;
  struct Element {
    float gradient, variance, momentum;
  };
  KOKKOS_INLINE_FUNCTION Element element(Index k) const {
    return {gradient[k], by_root ? units.variance[k] : 0, by_number ? momentum.numbers[k] : 0};
  }
  KOKKOS_INLINE_FUNCTION float by_tensor(std::int32_t tensor) const {
    return unify == Unify::layer ? units.by_tensor[tensor] : units.growth[tensor];
  }
  KOKKOS_INLINE_FUNCTION float own(float g, float before) const {
    return exchange == Exchange::gradient ? g : device_math::multiply_add(beta1, before, share1 * g);
  }
  /// sent, growth: value of the momentum's bits and rho at the time they were made.
  KOKKOS_INLINE_FUNCTION float in_units(Element const& at, float clip_factor, float factor, float sent,
                                        float growth) const {
    float const g = clip_factor * at.gradient;
    if constexpr (by_root) {
      float const root_of_shape = device_math::root(at.variance);
      float const root = factor * root_of_shape + units.epsilon;
      float const before = in_bits ? sent * (growth * root_of_shape + units.epsilon) : at.momentum;
      return device_math::quotient(own(math::clamp(g, -units.limit * root, units.limit * root), before), root);
    } else if constexpr (unify == Unify::layer) {
      return factor * own(g, in_bits ? device_math::quotient(sent, factor) : at.momentum);
    } else {
      return own(g, in_bits ? sent : at.momentum);
    }
  }
};

template <Exchange exchange, bool in_bits, class Use>
auto with_unified_form(Units const& units, Coefficients<float> const& c, HeldMomentum const& momentum,
                       float const* gradient, GradientCheck const* gradient_check, Use const& use) {
  if (units.unify == Unify::element)
    return use(
        ExchangeForm<exchange, Unify::element, in_bits>{units, c.beta1, c.share1, momentum, gradient, gradient_check});
  if (units.unify == Unify::layer)
    return use(
        ExchangeForm<exchange, Unify::layer, in_bits>{units, c.beta1, c.share1, momentum, gradient, gradient_check});
  return use(
      ExchangeForm<exchange, Unify::none, in_bits>{units, c.beta1, c.share1, momentum, gradient, gradient_check});
}

/// Calls use(form) with the ExchangeForm for these units.
template <class Use>
auto with_exchange_form(Units const& units, Coefficients<float> const& c, HeldMomentum const& momentum,
                        float const* gradient, GradientCheck const* gradient_check, Use const& use) {
  require_neighbours<Exec>(units.variance, momentum.numbers, gradient);
  if (units.exchange == Exchange::gradient)
    return with_unified_form<Exchange::gradient, false>(units, c, momentum, gradient, gradient_check, use);
  return momentum.numbers != nullptr
             ? with_unified_form<Exchange::momentum, false>(units, c, momentum, gradient, gradient_check, use)
             : with_unified_form<Exchange::momentum, true>(units, c, momentum, gradient, gradient_check, use);
}

/// This rank's gradient with decay, clip g + decay x, which 1-bit SGD exchanges. `tensors` maps elements to tensors.
struct GradientForm {
  Units tensors;
  TensorRule const* rules;
  float const* parameters;
  float const* gradient;
  GradientCheck const* gradient_check;
  float clip = 0;      ///< of the current word or block
  ByWord decays = {};  ///< of the same

  KOKKOS_INLINE_FUNCTION void begin_word(Index first, Index last) {
    clip = static_cast<float>(gradient_check->clip_factor);
    decays.set(tensors, first, last, [&](std::int32_t tensor) { return rules[tensor].decay; });
  }
  KOKKOS_INLINE_FUNCTION float at(Index k, int lane) const {
    return clip * gradient[k] + decays.values[lane] * parameters[k];
  }
  KOKKOS_INLINE_FUNCTION bool begin_block(Index first, Index last) {
    clip = static_cast<float>(gradient_check->clip_factor);
    std::int32_t const tensor = tensor_at(tensors, first);
    decays.values[0] = rules[tensor].decay;
    return tensors.end[tensor] >= last;
  }
  template <int n>
  KOKKOS_INLINE_FUNCTION void of_block(Index k, float (&values)[n]) const {
    float g[n], x[n];
    load(gradient + k, g);
    load(parameters + k, x);
    BELLWETHER_UNROLL
    for (int e = 0; e < n; ++e) values[e] = clip * g[e] + decays.values[0] * x[e];
  }
  KOKKOS_INLINE_FUNCTION float operator()(Index k) const {
    return static_cast<float>(gradient_check->clip_factor) * gradient[k] +
           rules[tensor_at(tensors, k)].decay * parameters[k];
  }
};

}  // namespace bellwether::optim
