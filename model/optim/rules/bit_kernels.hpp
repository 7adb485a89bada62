// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/optim/formulas.hpp"
#include "model/optim/rules/kernel_context.hpp"
#include "model/optim/rules/sign_momentum.hpp"

namespace bellwether::optim {

/// Arguments of bit_lamb_sums().
struct BitLambSums {
  Coefficients<float> coefficients;  ///< of this step
  Units units;                       ///< units of the exchange
  comm::Decoded mean;                ///< the next momentum, in bits and in these units
  HeldMomentum before;               ///< the momentum at the start of the exchange; read only with `fresh`
  float const* parameters;           ///< (n) x
  float* direction;                  ///< (n) receives u; nullptr: not stored
  float* fresh;                      ///< (n) fresh variance f, updated; nullptr: there is no f
};

/// Arguments of bit_apply().
struct BitStep {
  Units units;           ///< units of the exchange
  comm::Decoded mean;    ///< the next momentum, in bits and in these units
  double learning_rate;  ///< lr of this step
  float const* ratios;   ///< (tensors) c; nullptr: 1
  float* parameters;     ///< (n) x, updated
  float* direction;      ///< (n) receives u; nullptr: not stored
};

/// Computes the sums by block for decoded_lamb_factors() and lamb_ratios(). Unlike in decoded_lamb_moments(), the next
/// momentum is in bits. norms: (4 blocks), written as by decoded_lamb_moments(). Bytes an element with Unify::element:
/// 4 for x. With f, 4 more for v and 8 for f.
template <class Space>
void bit_lamb_sums(Space const& exec, KernelContext<Space> const& context, BitLambSums const& arguments,
                   Vec<double, Space> const& norms);

/// x <- x - lr c u, where u is recomputed from the bits.
template <class Space>
void bit_apply(Space const& exec, KernelContext<Space> const& context, BitStep const& step);

}  // namespace bellwether::optim
