// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/signs.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/rules/compressed_formulas.hpp"
#include "model/optim/rules/dense_kernels.hpp"
#include "model/optim/rules/kernel_context.hpp"
#include "model/optim/units.hpp"

namespace bellwether::optim {

/// Numbers by layer of 1-bit LAMB, (tensors) each. They are the factor of the learning rate, the norms of x before the
/// step and of u, cavg, and r. The last is 1 if cavg has a sample, 0 if not.
struct FrozenLambRecord {
  LayerRecord lamb;  ///< trust_ratio is cavg r after the freeze
  float* average;
  float* factor;
  float* sampled;
};

/// Arguments of decoded_lamb_moments().
struct DecodedLambMoments {
  Coefficients<float> coefficients;  ///< of this step
  Units units;                       ///< units of the exchange
  comm::Decoded mean;                ///< the result of the exchange, in these units
  float const* parameters;           ///< (n) x
  float const* variance;             ///< (n) v
  float* direction;                  ///< (n) receives u
  float* momentum;                   ///< (n) m, updated
  float* fresh;                      ///< (n) fresh variance f, updated; nullptr: there is no f
};

/// Arguments of decoded_adam_apply().
struct DecodedAdamStep {
  Coefficients<float> coefficients;  ///< of this step
  Units units;                       ///< units of the exchange
  comm::Decoded mean;                ///< the result of the exchange, in these units
  double learning_rate;              ///< lr of this step
  float const* variance;             ///< (n) v
  float* parameters;                 ///< (n) x, updated
  float* momentum;                   ///< (n) m, updated
  float* direction;                  ///< (n) receives u; nullptr: not stored
};

/// Arguments of decoded_sgd_apply().
struct DecodedSgdStep {
  float beta1;           ///< share of m that a step keeps
  comm::Decoded mean;    ///< the result of the exchange
  double learning_rate;  ///< lr of this step
  float* parameters;     ///< (n) x, updated
  float* momentum;       ///< (n) m, updated
};

/// Before the freeze, after lamb_ratios(): adds to cavg the trust ratio of every tensor whose norms are not zero.
template <class Space>
void average_ratios(Space const& exec, Index tensors, double beta, Vec<GradientCheck, Space> const& gradient_check,
                    FrozenLambRecord const& record);

/// r = c / cavg for every tensor. c is the trust ratio from lamb_ratios() after the freeze.
template <class Space>
void relate_ratios(Space const& exec, Index tensors, Vec<GradientCheck, Space> const& gradient_check,
                   FrozenLambRecord const& record);

/// Computes the moments after the exchange, 16 bytes an element read and 12 written. The mean becomes m. The gradient
/// reconstructed from it updates the fresh variance f. The direction u = m' / (rho sqrt(v) + epsilon) + decay x, with
/// m' = led_momentum(m), is stored. `norms`: (4 blocks), written: squares of x, of u, and of u without decay. Its last
/// quarter is the largest (sqrt(v) + epsilon) / (sqrt(f) + epsilon) over active elements, or 0. Without f the last
/// quarter is 0, and the traffic is 8 bytes an element less.
template <class Space>
void decoded_lamb_moments(Space const& exec, KernelContext<Space> const& context, DecodedLambMoments const& arguments,
                          Vec<double, Space> const& norms);

/// Computes r and cavg r of every tensor from the sums by block. lamb_apply() then makes the step.
template <class Space>
void decoded_lamb_factors(Space const& exec, KernelContext<Space> const& context, FactorBounds const& bounds,
                          Vec<double, Space> const& norms, FrozenLambRecord const& record);

/// 1-bit Adam after the exchange: m from the mean, then x <- x - lr u. Here u = m' / (rho sqrt(v) + epsilon) + decay x,
/// with m' as in decoded_lamb_moments().
template <class Space>
void decoded_adam_apply(Space const& exec, KernelContext<Space> const& context, DecodedAdamStep const& step);

/// 1-bit SGD after the exchange of GradientForm: sgd_apply() with the mean instead of clip g + decay x. Elements masked
/// in the exchange have no gradient and use decay x.
template <class Space>
void decoded_sgd_apply(Space const& exec, KernelContext<Space> const& context, DecodedSgdStep const& step);

}  // namespace bellwether::optim
