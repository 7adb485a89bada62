// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/signs.hpp"
#include "core/math.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/gradient_verdict.hpp"
#include "model/optim/lamb_kernels.hpp"
#include "model/optim/onebit_formulas.hpp"

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

/// This rank's part of the exchange in the common units, s_k clip g or s_k (beta1 m + (1 - beta1) clip g). `exchange`
/// and `unify` are those of the units; with Unify::element clip g is kept within their limit.
template <Exchange exchange, Unify unify>
struct ExchangeForm {
  Units units;
  float beta1, share1;
  float const* momentum;
  float const* gradient;
  Verdict const* verdict;
  float clip = 0;       ///< of the word that was begun
  ByWord factors = {};  ///< the same: s with Unify::layer, rho with Unify::element

  KOKKOS_INLINE_FUNCTION void begin_word(Index first, Index last) {
    clip = static_cast<float>(verdict->clip_factor);
    if constexpr (unify != Unify::none)
      factors.set(units, first, last, [&](std::int32_t tensor) { return by_tensor(tensor); });
  }
  KOKKOS_INLINE_FUNCTION float at(Index k, int lane) const { return in_units(k, clip, factors.values[lane]); }
  KOKKOS_INLINE_FUNCTION float operator()(Index k) const {
    float factor = 1;
    if constexpr (unify != Unify::none) factor = by_tensor(tensor_at(units, k));
    return in_units(k, static_cast<float>(verdict->clip_factor), factor);
  }

 private:
  KOKKOS_INLINE_FUNCTION float by_tensor(std::int32_t tensor) const {
    return unify == Unify::layer ? units.by_tensor[tensor] : units.growth[tensor];
  }
  KOKKOS_INLINE_FUNCTION float own(Index k, float g) const {
    return exchange == Exchange::momentum ? beta1 * momentum[k] + share1 * g : g;
  }
  KOKKOS_INLINE_FUNCTION float in_units(Index k, float clip_factor, float factor) const {
    float const g = clip_factor * gradient[k];
    if constexpr (unify == Unify::element) {
      float const root = factor * Kokkos::sqrt(units.variance[k]) + units.epsilon;
      return own(k, math::clamp(g, -units.limit * root, units.limit * root)) / root;
    }
    return unify == Unify::layer ? factor * own(k, g) : own(k, g);
  }
};

template <Exchange exchange, class Use>
auto with_unified_form(Units const& units, Coefficients<float> const& c, float const* momentum, float const* gradient,
                       Verdict const* verdict, Use const& use) {
  if (units.unify == Unify::element)
    return use(ExchangeForm<exchange, Unify::element>{units, c.beta1, c.share1, momentum, gradient, verdict});
  if (units.unify == Unify::layer)
    return use(ExchangeForm<exchange, Unify::layer>{units, c.beta1, c.share1, momentum, gradient, verdict});
  return use(ExchangeForm<exchange, Unify::none>{units, c.beta1, c.share1, momentum, gradient, verdict});
}

/// Calls use(form) with the ExchangeForm of these units.
template <class Use>
auto with_exchange_form(Units const& units, Coefficients<float> const& c, float const* momentum, float const* gradient,
                        Verdict const* verdict, Use const& use) {
  return units.exchange == Exchange::gradient
             ? with_unified_form<Exchange::gradient>(units, c, momentum, gradient, verdict, use)
             : with_unified_form<Exchange::momentum>(units, c, momentum, gradient, verdict, use);
}

/// This rank's gradient with decay, clip g + decay x: what 1-bit SGD exchanges. Decay by tensor as Units finds it.
struct GradientForm {
  Units tensors;
  TensorRule const* rules;
  float const* parameters;
  float const* gradient;
  Verdict const* verdict;
  float clip = 0;      ///< of the word that was begun
  ByWord decays = {};  ///< the same

  KOKKOS_INLINE_FUNCTION void begin_word(Index first, Index last) {
    clip = static_cast<float>(verdict->clip_factor);
    decays.set(tensors, first, last, [&](std::int32_t tensor) { return rules[tensor].decay; });
  }
  KOKKOS_INLINE_FUNCTION float at(Index k, int lane) const {
    return clip * gradient[k] + decays.values[lane] * parameters[k];
  }
  KOKKOS_INLINE_FUNCTION float operator()(Index k) const {
    return static_cast<float>(verdict->clip_factor) * gradient[k] + rules[tensor_at(tensors, k)].decay * parameters[k];
  }
};

/// Numbers by layer of 1-bit LAMB, (tensors) each: what multiplies the rate, norms of x before the step and of u, cavg,
/// r, and whether cavg has a sample (1) or none yet (0).
struct OnebitRecord {
  LayerRecord lamb;  ///< its trust ratio is cavg r after the freeze
  float* average;
  float* factor;
  float* sampled;
};

/// Warmup, after lamb_ratios(): cavg takes up the ratio of every tensor whose norms are not zero.
template <class Space>
void average_ratios(Space const& exec, Index tensors, double beta, Vec<Verdict, Space> const& verdict,
                    OnebitRecord const& record);

/// r = c / cavg of every tensor, where c comes from lamb_ratios() after the freeze.
template <class Space>
void relate_ratios(Space const& exec, Index tensors, Vec<Verdict, Space> const& verdict, OnebitRecord const& record);

/// After the exchange, 16 bytes an element read and 12 written: m from the mean, the gradient it amounts to into the
/// fresh variance f, the direction u = m' / (rho sqrt(v) + epsilon) + decay x, where m' = led_momentum(m), in place of
/// the gradient. norms: (4 blocks), written: squares of x, of u, of u without decay; the largest (sqrt(v) + epsilon) /
/// (sqrt(f) + epsilon) over live elements, 0 without any. fresh: nullptr for no f, 8 bytes an element less; then the
/// last quarter of norms is 0.
template <class Space>
void onebit_lamb_moments(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                         Coefficients<float> const& coefficients, Units const& units, comm::Decoded const& mean,
                         Vec<Verdict, Space> const& verdict, float const* parameters, float const* variance,
                         float* gradient, float* momentum, float* fresh, Vec<double, Space> const& norms);

/// r and cavg r of every tensor from the sums by block; lamb_apply() makes the step.
template <class Space>
void onebit_lamb_factors(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                         FactorBounds const& bounds, Vec<Verdict, Space> const& verdict,
                         Vec<double, Space> const& norms, OnebitRecord const& record);

/// 1-bit Adam after the exchange: m from the mean, x <- x - lr u, u = m' / (rho sqrt(v) + epsilon) + decay x with m' as
/// above. direction: (n), where u is written; nullptr for nowhere.
template <class Space>
void onebit_adam_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                       Coefficients<float> const& coefficients, Units const& units, comm::Decoded const& mean,
                       double learning_rate, Vec<Verdict, Space> const& verdict, float const* variance,
                       float* parameters, float* momentum, float* direction);

/// SGD with momentum, dense: m <- beta1 m + clip g + decay x, x <- x - lr m.
template <class Space>
void sgd_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules, float beta1,
               double learning_rate, Vec<Verdict, Space> const& verdict, float const* gradient, float* parameters,
               float* momentum);

/// The same with the mean of an exchange of GradientForm in place of the last two terms; what is dead in the exchange
/// has no gradient and takes decay x.
template <class Space>
void onebit_sgd_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                      float beta1, comm::Decoded const& mean, double learning_rate, Vec<Verdict, Space> const& verdict,
                      float* parameters, float* momentum);

}  // namespace bellwether::optim
