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

/// Arguments of linear_forward().
template <class Real, class Stored>
struct LinearForward {
  Index rows, in, out;      ///< extents of the matrices
  Stored const* x;          ///< (rows, in)
  Stored const* W;          ///< (out, in)
  Bias<Real, Stored> bias;  ///< (out)
  Stored* y;                ///< (rows, out), written
};

/// Arguments of linear_gelu_forward().
template <class Real, class Stored>
struct LinearGeluForward {
  Index rows, in, out;      ///< extents of the matrices
  Stored const* x;          ///< (rows, in)
  Stored const* W;          ///< (out, in)
  Bias<Real, Stored> bias;  ///< (out)
  Stored* pre;              ///< (rows, out), written
  Stored* y;                ///< (rows, out), written
};

/// Arguments of linear_gradients().
template <class Real, class Stored>
struct LinearGradients {
  Index rows, in, out;  ///< extents of the matrices
  Index stride;         ///< elements from one row of dy to the next
  Stored const* dy;     ///< (rows, out)
  Stored const* x;      ///< (rows, in)
  Real* dW;             ///< (out, in), updated
  Real* dbias;          ///< (out), updated
};

/// Arguments of gelu_linear_backward().
template <class Real, class Stored>
struct GeluLinearBackward {
  Index rows, in, out;  ///< extents of the matrices
  Stored const* dz;     ///< (rows, out)
  Stored const* V;      ///< (out, in)
  Stored const* pre;    ///< (rows, in)
  Stored* dpre;         ///< (rows, in), written
  Real* dbias;          ///< (in), updated
};

/// y = x W^T + bias.
template <class Real, class Stored, class Space>
void linear_forward(Space const& exec, LinearForward<Real, Stored> const& p);

/// pre = x W^T + bias; y = GELU(pre).
template <class Real, class Stored, class Space>
void linear_gelu_forward(Space const& exec, Activation kind, LinearGeluForward<Real, Stored> const& p);

/// Gradients of y = x W^T + bias: dW += dy^T x; dbias += column sums of dy.
template <class Real, class Stored, class Space>
void linear_gradients(Space const& exec, LinearGradients<Real, Stored> const& p, BlockScratchOf<Real> const& scratch);

/// Backward of z = GELU(pre) V^T: dpre = (dz V) GELU'(pre); dbias += column sums of dpre.
template <class Real, class Stored, class Space>
void gelu_linear_backward(Space const& exec, Activation kind, GeluLinearBackward<Real, Stored> const& p,
                          BlockScratchOf<Real> const& scratch);

}  // namespace bellwether::model
