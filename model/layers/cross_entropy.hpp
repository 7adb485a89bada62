// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"

namespace bellwether::model {

/// Softmax cross entropy with its gradient, in one pass: dlogits = scale * (softmax(logits + bias) - one_hot(label));
/// loss(r) = -log softmax(label); correct(r) = 1 where no class beats the label. logits: (rows, classes) without bias,
/// destroyed; dlogits: (rows, classes), may be logits; rows of both are `stride` elements apart.
template <class Real, class Stored, class Space>
void cross_entropy(Space const& exec, Index rows, Index classes, Index stride, Real const* bias,
                   std::int32_t const* labels, Real scale, Real* logits, Stored* dlogits, double* loss,
                   double* correct);

/// total += sum of values, in an order that count and Space fix: on hosts their own. values: (count), total: (1).
template <class Space>
void add_in_order(Space const& exec, Index count, double const* values, double* total);

}  // namespace bellwether::model
