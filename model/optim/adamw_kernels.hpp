// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/block_table.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/gradient_verdict.hpp"
#include "model/optim/tensor_rules.hpp"

namespace bellwether::optim {

/// One AdamW step over the whole arena, x <- x - lr (m' / (sqrt(v') + epsilon) + decay x): one launch, 28 bytes an
/// element. parameters, gradient, momentum, variance: (n). Nothing changes where the verdict says skip.
template <class Space>
void adamw_update(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                  Coefficients<float> const& coefficients, double learning_rate, Vec<Verdict, Space> const& verdict,
                  float const* gradient, float* parameters, float* momentum, float* variance);

}  // namespace bellwether::optim
