// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"
#include "model/layers/rows.hpp"
#include "model/model_config.hpp"

/// Matrix products fused with BERT's next operation, where the space has such a product (core/gemm/gemm_epilogue.hpp).
/// Otherwise gemm() and the kernels of rows.hpp and activation.hpp.
namespace bellwether::model {

/// A bias in Real and rounded to Stored. Libraries add only the latter to a bf16 product.
template <class Real, class Stored>
struct Bias {
  Real const* value;     ///< (out)
  Stored const* stored;  ///< (out)
};

/// y = x W^T + bias. x: (rows, in); W: (out, in); y: (rows, out).
template <class Real, class Stored, class Space>
void linear_forward(Space const& exec, Index rows, Index in, Index out, Stored const* x, Stored const* W,
                    Bias<Real, Stored> const& bias, Stored* y);

/// pre = x W^T + bias; y = GELU(pre). pre, y: (rows, out).
template <class Real, class Stored, class Space>
void linear_gelu_forward(Space const& exec, Activation kind, Index rows, Index in, Index out, Stored const* x,
                         Stored const* W, Bias<Real, Stored> const& bias, Stored* pre, Stored* y);

/// Gradients of y = x W^T + bias: dW += dy^T x; dbias += column sums of dy. Rows of dy (rows, out) are `stride`
/// elements apart. x: (rows, in); dW: (out, in); dbias: (out).
template <class Real, class Stored, class Space>
void linear_gradients(Space const& exec, Index rows, Index in, Index out, Index stride, Stored const* dy,
                      Stored const* x, Real* dW, BlockScratchOf<Real> const& scratch, Real* dbias);

/// Backward of z = GELU(pre) V^T: dpre = (dz V) GELU'(pre); dbias += column sums of dpre. dz: (rows, out). V: (out,
/// in). pre, dpre: (rows, in); dbias: (in).
template <class Real, class Stored, class Space>
void gelu_linear_backward(Space const& exec, Activation kind, Index rows, Index in, Index out, Stored const* dz,
                          Stored const* V, Stored const* pre, Stored* dpre, BlockScratchOf<Real> const& scratch,
                          Real* dbias);

}  // namespace bellwether::model
