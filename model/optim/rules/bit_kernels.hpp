// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/memory/block_table.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/monitor/gradient_check.hpp"
#include "model/optim/rules/sign_momentum.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// Computes the sums by block for decoded_lamb_factors() and lamb_ratios(). Unlike in decoded_lamb_moments(), the next
/// momentum is in bits (`mean`). `direction`: (n), receives u. Null: not stored. `fresh`: receives the fresh variance f
/// after the step. Null: no f. Only with f does it read `before`, the momentum at the start of the exchange, and
/// `fresh_before`, f before the step. `before.numbers` may be in the same memory as `fresh`. Bytes an element with
/// Unify::element: 4 for x. With f, 4 more for v and 8 for f.
template <class Space>
void bit_lamb_sums(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                   Coefficients<float> const& coefficients, Units const& units, comm::Decoded const& mean,
                   HeldMomentum const& before, Vec<GradientCheck, Space> const& gradient_check, float const* parameters,
                   float* direction, float const* fresh_before, float* fresh, Vec<double, Space> const& norms);

/// x <- x - lr c u, where u is recomputed from the bits. ratios: (tensors) c; nullptr: 1. direction: see
/// bit_lamb_sums().
template <class Space>
void bit_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
               Units const& units, comm::Decoded const& mean, double learning_rate,
               Vec<GradientCheck, Space> const& gradient_check, float const* ratios, float* parameters,
               float* direction);

}  // namespace bellwether::optim
