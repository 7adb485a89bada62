// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "model/layers/dropout.hpp"
#include "model/layers/rows.hpp"

namespace bellwether::model {

/// y = out_dropout(LN(residual + in_dropout(a + bias))) (Ba, Kiros, Hinton, arXiv 1607.06450): layer normalisation with
/// the operations before and after it in BERT, in one kernel. Null bias or residual: omitted.
template <class Real, class Stored = Real>
struct LayerNormForward {
  Index rows, C;
  Stored* sum;                       ///< (rows, C) in: a; out: the sum that is normalised, for backward
  Real const* bias = nullptr;        ///< (C)
  Stored const* residual = nullptr;  ///< (rows, C)
  Dropout in_dropout{};
  Dropout out_dropout{};
  RowOrigin origin{};  ///< read if a dropout is active
  Real const* gamma;   ///< (C)
  Real const* beta;    ///< (C)
  Real epsilon;
  Stored* y;                ///< (rows, C)
  Real* mean;               ///< (rows)
  Real* inverse_deviation;  ///< (rows)
};
template <class Real, class Stored, class Space>
void layer_norm_forward(Space const& exec, LayerNormForward<Real, Stored> const& p);

template <class Real, class Stored = Real>
struct LayerNormBackward {
  Index rows, C;
  Real const* dy;                 ///< (rows, C)
  Stored const* sum;              ///< (rows, C) from forward
  Real const* mean;               ///< (rows)
  Real const* inverse_deviation;  ///< (rows)
  Real const* gamma;              ///< (C)
  Dropout in_dropout{};
  Dropout out_dropout{};
  RowOrigin origin{};
  Real* dsum;             ///< (rows, C) gradient of the sum and therefore of the residual; may be dy
  Stored* da = nullptr;   ///< (rows, C) gradient of a; null: not computed
  Real* dgamma;           ///< (C) added to
  Real* dbeta;            ///< (C) added to
  Real* dbias = nullptr;  ///< (C) added to; null: no bias
};
template <class Real, class Stored, class Space>
void layer_norm_backward(Space const& exec, LayerNormBackward<Real, Stored> const& p,
                         BlockScratchOf<Real> const& scratch);

}  // namespace bellwether::model
