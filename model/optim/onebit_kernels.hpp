// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/signs.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/gradient_verdict.hpp"
#include "model/optim/lamb_kernels.hpp"
#include "model/optim/onebit_formulas.hpp"

namespace bellwether::optim {

/// The factor s_k that brings momenta of one model to one magnitude before they share a scale: 1 / (sqrt(v_k) +
/// epsilon), s of the tensor, or 1. Pointers: variance (n), where elements are unified; by_tensor (tensors), tensor_of
/// (ceil(n / 32)) tensor of the first element of each word, end (tensors) first element behind each, where tensors are.
struct Units {
  Unify unify = Unify::none;
  float epsilon = 0;
  float const* variance = nullptr;
  float const* by_tensor = nullptr;
  std::int32_t const* tensor_of = nullptr;
  Index const* end = nullptr;
};

/// This rank's momentum in the common units, s_k (beta1 m + (1 - beta1) clip g): what goes into the exchange.
struct MomentumForm {
  Units units;
  float beta1, share1;
  float const* momentum;
  float const* gradient;
  Verdict const* verdict;

  KOKKOS_INLINE_FUNCTION float operator()(Index k) const {
    float const clip = static_cast<float>(verdict->clip_factor);
    float const own = beta1 * momentum[k] + share1 * (clip * gradient[k]);
    if (units.unify == Unify::element) return own / (Kokkos::sqrt(units.variance[k]) + units.epsilon);
    if (units.unify == Unify::none) return own;
    std::int32_t tensor = units.tensor_of[k / 32];
    while (k >= units.end[tensor]) ++tensor;
    return units.by_tensor[tensor] * own;
  }
};

/// This rank's gradient with decay, clip g + decay x: what 1-bit SGD exchanges. Decay by tensor as Units finds it.
struct GradientForm {
  Units tensors;
  TensorRule const* rules;
  float const* parameters;
  float const* gradient;
  Verdict const* verdict;

  KOKKOS_INLINE_FUNCTION float operator()(Index k) const {
    std::int32_t tensor = tensors.tensor_of[k / 32];
    while (k >= tensors.end[tensor]) ++tensor;
    return static_cast<float>(verdict->clip_factor) * gradient[k] + rules[tensor].decay * parameters[k];
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

/// After the exchange, 20 bytes an element read and 12 written: m from the mean, the gradient it amounts to into the
/// fresh variance f, the direction u = m / (sqrt(v) + epsilon) + decay x in place of the gradient. norms: (4 blocks),
/// written: squares of x, of u, of u without decay; the largest (sqrt(v) + epsilon) / (sqrt(f) + epsilon) over live
/// elements, 0 without any.
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

/// 1-bit Adam after the exchange: m from the mean, x <- x - lr (m / (sqrt(v) + epsilon) + decay x).
template <class Space>
void onebit_adam_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                       Coefficients<float> const& coefficients, Units const& units, comm::Decoded const& mean,
                       double learning_rate, Vec<Verdict, Space> const& verdict, float const* variance,
                       float* parameters, float* momentum);

/// SGD with momentum, dense: m <- beta1 m + clip g + decay x, x <- x - lr m.
template <class Space>
void sgd_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules, float beta1,
               double learning_rate, Vec<Verdict, Space> const& verdict, float const* gradient, float* parameters,
               float* momentum);

/// The same with the mean of an exchange of GradientForm in place of the last two terms.
template <class Space>
void onebit_sgd_apply(Space const& exec, BlockTable<Space> const& table, float beta1, comm::Decoded const& mean,
                      double learning_rate, Vec<Verdict, Space> const& verdict, float* parameters, float* momentum);

/// Sum of magnitudes of (n) values, on the host; waits. In a fixed order.
template <class Space>
double sum_of_magnitudes(Space const& exec, Index count, float const* values);

}  // namespace bellwether::optim
