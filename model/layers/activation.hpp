// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"
#include "model/layers/rows.hpp"
#include "model/model_config.hpp"

namespace bellwether::model {

/// Arguments of bias_gelu_forward().
template <class Real, class Stored>
struct BiasGeluForward {
  Index rows, F;     ///< extents of the matrices
  Real const* bias;  ///< (F)
  Stored* pre;       ///< (rows, F), updated
  Stored* y;         ///< (rows, F), written
};

/// Arguments of bias_gelu_backward(). Given: Real or Stored.
template <class Real, class Stored, class Given>
struct BiasGeluBackward {
  Index rows, F;      ///< extents of the matrices
  Stored const* pre;  ///< (rows, F)
  Given const* dy;    ///< (rows, F)
  Stored* dpre;       ///< (rows, F), written; may be dy
  Real* dbias;        ///< (F), updated
};

/// pre += bias; y = GELU(pre): Hendrycks and Gimpel, arXiv 1606.08415.
template <class Real, class Stored, class Space>
void bias_gelu_forward(Space const& exec, Activation kind, BiasGeluForward<Real, Stored> const& p);

/// y = GELU(pre). pre, y: (rows, F).
template <class Stored, class Space>
void gelu_forward(Space const& exec, Activation kind, Index rows, Index F, Stored const* pre, Stored* y);

/// dpre = dy GELU'(pre); dbias += column sums of dpre.
template <class Real, class Stored, class Given, class Space>
void bias_gelu_backward(Space const& exec, Activation kind, BiasGeluBackward<Real, Stored, Given> const& p,
                        BlockScratchOf<Real> const& scratch);

/// y = tanh(y + bias), in place. y: (rows, C).
template <class Real, class Stored, class Space>
void bias_tanh_forward(Space const& exec, Index rows, Index C, Real const* bias, Stored* y);

/// dy *= 1 - y^2, in place. dy, y: (rows, C).
template <class Stored, class Space>
void tanh_backward(Space const& exec, Index rows, Index C, Stored const* y, Stored* dy);

}  // namespace bellwether::model
