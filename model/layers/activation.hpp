// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"
#include "model/config.hpp"

namespace bellwether::model {

/// pre += bias; y = GELU(pre): Hendrycks and Gimpel, arXiv 1606.08415. pre, y: (rows, F); bias: (F).
template <class Real, class Space>
void bias_gelu_forward(Space const& exec, Activation kind, Index rows, Index F, Real const* bias, Real* pre, Real* y);

/// dy *= GELU'(pre), in place; dbias += its column sums. dy, pre: (rows, F); partial: (row_blocks(rows), F) scratch.
template <class Real, class Space>
void bias_gelu_backward(Space const& exec, Activation kind, Index rows, Index F, Real const* pre, Real* dy,
                        Real* partial, Real* dbias);

/// y = tanh(y + bias), in place. y: (rows, C).
template <class Real, class Space>
void bias_tanh_forward(Space const& exec, Index rows, Index C, Real const* bias, Real* y);

/// dy *= 1 - y^2, in place. dy, y: (rows, C).
template <class Real, class Space>
void tanh_backward(Space const& exec, Index rows, Index C, Real const* y, Real* dy);

}  // namespace bellwether::model
