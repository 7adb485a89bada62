// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"

namespace bellwether::model {

/// Arguments of cross_entropy().
template <class Real, class Stored>
struct CrossEntropy {
  Index rows, classes;         ///< extents of the logits
  Index stride;                ///< elements from one row of logits and dlogits to the next
  Real const* bias;            ///< (classes), added to the logits
  std::int32_t const* labels;  ///< (rows)
  Real scale;                  ///< factor of the gradient
  Real* logits;                ///< (rows, classes) without bias, overwritten
  Stored* dlogits;             ///< (rows, classes), written; may be logits
  double* loss;                ///< (rows), written
  double* correct;             ///< (rows), written
};

/// Softmax cross entropy and its gradient: dlogits = scale * (softmax(logits + bias) - one_hot(label)). Also loss(r) =
/// -log softmax(label), and correct(r) = 1 if no class has a higher logit than the label.
template <class Real, class Stored, class Space>
void cross_entropy(Space const& exec, CrossEntropy<Real, Stored> const& p);

/// total += sum of values, in an order that depends on count and Space only. Hosts add sequentially. values: (count);
/// total: (1).
template <class Space>
void add_in_order(Space const& exec, Index count, double const* values, double* total);

}  // namespace bellwether::model
