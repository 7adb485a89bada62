// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/signs.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/one_bit/onebit_formulas.hpp"
#include "model/optim/rules/dense_kernels.hpp"
#include "model/optim/units.hpp"

namespace bellwether::optim {

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
void average_ratios(Space const& exec, Index tensors, double beta, Vec<GradientCheck, Space> const& gradient_check,
                    OnebitRecord const& record);

/// r = c / cavg of every tensor, where c comes from lamb_ratios() after the freeze.
template <class Space>
void relate_ratios(Space const& exec, Index tensors, Vec<GradientCheck, Space> const& gradient_check,
                   OnebitRecord const& record);

/// After the exchange, 16 bytes an element read and 12 written: m from the mean, the gradient it amounts to into the
/// fresh variance f, the direction u = m' / (rho sqrt(v) + epsilon) + decay x, where m' = led_momentum(m), in place of
/// the gradient. norms: (4 blocks), written: squares of x, of u, of u without decay; the largest (sqrt(v) + epsilon) /
/// (sqrt(f) + epsilon) over active elements, 0 without any. fresh: nullptr for no f, 8 bytes an element less; then the
/// last quarter of norms is 0.
template <class Space>
void onebit_lamb_moments(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                         Coefficients<float> const& coefficients, Units const& units, comm::Decoded const& mean,
                         Vec<GradientCheck, Space> const& gradient_check, float const* parameters,
                         float const* variance, float* gradient, float* momentum, float* fresh,
                         Vec<double, Space> const& norms);

/// r and cavg r of every tensor from the sums by block; lamb_apply() makes the step.
template <class Space>
void onebit_lamb_factors(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                         FactorBounds const& bounds, Vec<GradientCheck, Space> const& gradient_check,
                         Vec<double, Space> const& norms, OnebitRecord const& record);

/// 1-bit Adam after the exchange: m from the mean, x <- x - lr u, u = m' / (rho sqrt(v) + epsilon) + decay x with m' as
/// above. direction: (n), where u is written; nullptr for nowhere.
template <class Space>
void onebit_adam_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                       Coefficients<float> const& coefficients, Units const& units, comm::Decoded const& mean,
                       double learning_rate, Vec<GradientCheck, Space> const& gradient_check, float const* variance,
                       float* parameters, float* momentum, float* direction);

/// 1-bit SGD after the exchange of GradientForm: sgd_apply() with the mean in place of its last two terms; what is
/// masked in the exchange has no gradient and takes decay x.
template <class Space>
void onebit_sgd_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                      float beta1, comm::Decoded const& mean, double learning_rate,
                      Vec<GradientCheck, Space> const& gradient_check, float* parameters, float* momentum);

}  // namespace bellwether::optim
