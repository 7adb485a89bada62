// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"
#include "model/layers/rows.hpp"
#include "model/model_config.hpp"

namespace bellwether::model {

/// pre += bias; y = GELU(pre): Hendrycks and Gimpel, arXiv 1606.08415. pre, y: (rows, F); bias: (F).
template <class Real, class Stored, class Space>
void bias_gelu_forward(Space const& exec, Activation kind, Index rows, Index F, Real const* bias, Stored* pre,
                       Stored* y);

/// y = GELU(pre). pre, y: (rows, F).
template <class Stored, class Space>
void gelu_forward(Space const& exec, Activation kind, Index rows, Index F, Stored const* pre, Stored* y);

/// dpre = dy GELU'(pre); dbias += column sums of dpre. dy, pre, dpre: (rows, F); dpre may be dy. Given: Real or Stored.
template <class Real, class Stored, class Given, class Space>
void bias_gelu_backward(Space const& exec, Activation kind, Index rows, Index F, Stored const* pre, Given const* dy,
                        Stored* dpre, BlockScratchOf<Real> const& scratch, Real* dbias);

/// y = tanh(y + bias), in place. y: (rows, C).
template <class Real, class Stored, class Space>
void bias_tanh_forward(Space const& exec, Index rows, Index C, Real const* bias, Stored* y);

/// dy *= 1 - y^2, in place. dy, y: (rows, C).
template <class Stored, class Space>
void tanh_backward(Space const& exec, Index rows, Index C, Stored const* y, Stored* dy);

}  // namespace bellwether::model
