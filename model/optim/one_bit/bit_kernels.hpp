// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/memory/block_table.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/one_bit/sign_momentum.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// After an exchange whose mean is the next momentum, which is not written: sums of each block for
/// onebit_lamb_factors() and lamb_ratios(), as onebit_lamb_moments() forms them. direction: (n), where u is written;
/// nullptr for nowhere. before: the momentum that the exchange began with; of the variance's fresh estimate f, whose
/// numbers `fresh_before` become `fresh`; all three are read only where fresh is not nullptr. before.numbers may be
/// where `fresh` is. Bytes an element with Unify::element: x 4, with f 4 more for v and 8 for it.
template <class Space>
void bit_lamb_sums(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                   Coefficients<float> const& coefficients, Units const& units, comm::Decoded const& mean,
                   HeldMomentum const& before, Vec<GradientCheck, Space> const& gradient_check, float const* parameters,
                   float* direction, float const* fresh_before, float* fresh, Vec<double, Space> const& norms);

/// x <- x - lr c u, u formed from the bits again. ratios: (tensors) c, nullptr: 1. direction: as above.
template <class Space>
void bit_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
               Units const& units, comm::Decoded const& mean, double learning_rate,
               Vec<GradientCheck, Space> const& gradient_check, float const* ratios, float* parameters,
               float* direction);

}  // namespace bellwether::optim
