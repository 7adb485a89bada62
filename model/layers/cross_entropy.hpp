// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"

namespace bellwether::model {

/// Softmax cross entropy and its gradient: dlogits = scale * (softmax(logits + bias) - one_hot(label)). Also loss(r) =
/// -log softmax(label), and correct(r) = 1 if no class has a higher logit than the label. `logits`: (rows, classes)
/// without bias, overwritten. `dlogits`: (rows, classes), may be logits. Rows of both are `stride` elements apart.
template <class Real, class Stored, class Space>
void cross_entropy(Space const& exec, Index rows, Index classes, Index stride, Real const* bias,
                   std::int32_t const* labels, Real scale, Real* logits, Stored* dlogits, double* loss,
                   double* correct);

/// total += sum of values, in an order that depends on count and Space only. Hosts add sequentially. values: (count);
/// total: (1).
template <class Space>
void add_in_order(Space const& exec, Index count, double const* values, double* total);

}  // namespace bellwether::model
