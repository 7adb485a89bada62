// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/linear.hpp"

#include "core/device/team_sum.hpp"
#include "core/gemm/gemm.hpp"
#include "core/gemm/gemm_epilogue.hpp"
#include "model/layers/activation.hpp"
#include "model/layers/rows.hpp"

namespace bellwether::model {
namespace {

/// Computes y = x W^T with an epilogue. Returns false and does nothing if the space has no such product.
template <class Stored, class Space>
bool fused(Space const& exec, Epilogue<Stored> const& epilogue, Index rows, Index in, Index out, Stored const* x,
           Stored const* W, Stored* y) {
  return gemm_with(exec, epilogue, Op::none, Op::transpose, rows, out, in, x, in, W, in, y, out);
}

}  // namespace

template <class Real, class Stored, class Space>
void linear_forward(Space const& exec, Index rows, Index in, Index out, Stored const* x, Stored const* W,
                    Bias<Real, Stored> const& bias, Stored* y) {
  using Kind = typename Epilogue<Stored>::Kind;
  if (fused(exec, {.kind = Kind::bias, .bias = bias.stored}, rows, in, out, x, W, y)) return;
  gemm(exec, Op::none, Op::transpose, rows, out, in, 1, x, in, W, in, 0, y, out);
  add_bias(exec, rows, out, bias.value, y);
}

template <class Real, class Stored, class Space>
void linear_gelu_forward(Space const& exec, Activation kind, Index rows, Index in, Index out, Stored const* x,
                         Stored const* W, Bias<Real, Stored> const& bias, Stored* pre, Stored* y) {
  using Kind = typename Epilogue<Stored>::Kind;
  if (kind == Activation::gelu_tanh &&
      fused(exec, {.kind = Kind::bias_gelu, .bias = bias.stored, .pre = pre}, rows, in, out, x, W, y))
    return;
  // No library has the erf form of GELU: fuse the bias only, and let GELU read the result.
  if (fused(exec, {.kind = Kind::bias, .bias = bias.stored}, rows, in, out, x, W, pre)) {
    gelu_forward(exec, kind, rows, out, pre, y);
    return;
  }
  gemm(exec, Op::none, Op::transpose, rows, out, in, 1, x, in, W, in, 0, pre, out);
  bias_gelu_forward(exec, kind, rows, out, bias.value, pre, y);
}

template <class Real, class Stored, class Space>
void linear_gradients(Space const& exec, Index rows, Index in, Index out, Index stride, Stored const* dy,
                      Stored const* x, Real* dW, BlockScratchOf<Real> const& scratch, Real* dbias) {
  if constexpr (TeamShape<Space>::host)
    if (gemm_with_column_sums(exec, out, in, rows, dy, stride, x, in, dW, in, dbias)) return;
  gemm(exec, Op::transpose, Op::none, out, in, rows, 1, dy, stride, x, in, 1, dW, in);
  add_column_sums<Real>(exec, rows, out, stride, dy, scratch, dbias);
}

template <class Real, class Stored, class Space>
void gelu_linear_backward(Space const& exec, Activation kind, Index rows, Index in, Index out, Stored const* dz,
                          Stored const* V, Stored const* pre, Stored* dpre, BlockScratchOf<Real> const& scratch,
                          Real* dbias) {
  using Kind = typename Epilogue<Stored>::Kind;
  // The library's sums for the bias would be rounded to Stored and would overwrite dbias instead of adding to it.
  if (kind == Activation::gelu_tanh && gemm_with(exec, {.kind = Kind::gelu_slope, .at = pre}, Op::none, Op::none, rows,
                                                 in, out, dz, out, V, in, dpre, in)) {
    add_column_sums<Real>(exec, rows, in, in, dpre, scratch, dbias);
    return;
  }
  gemm(exec, Op::none, Op::none, rows, in, out, 1, dz, out, V, in, 0, dpre, in);
  bias_gelu_backward<Real>(exec, kind, rows, in, pre, dpre, dpre, scratch, dbias);
}

#define BELLWETHER_LINEAR_OF(SPACE, REAL, STORED)                                                                 \
  template void linear_forward(SPACE const&, Index, Index, Index, STORED const*, STORED const*,                   \
                               Bias<REAL, STORED> const&, STORED*);                                               \
  template void linear_gelu_forward(SPACE const&, Activation, Index, Index, Index, STORED const*, STORED const*,  \
                                    Bias<REAL, STORED> const&, STORED*, STORED*);                                 \
  template void linear_gradients(SPACE const&, Index, Index, Index, Index, STORED const*, STORED const*, REAL*,   \
                                 BlockScratchOf<REAL> const&, REAL*);                                             \
  template void gelu_linear_backward(SPACE const&, Activation, Index, Index, Index, STORED const*, STORED const*, \
                                     STORED const*, STORED*, BlockScratchOf<REAL> const&, REAL*);
#define BELLWETHER_LINEAR(SPACE)              \
  BELLWETHER_LINEAR_OF(SPACE, float, float)   \
  BELLWETHER_LINEAR_OF(SPACE, double, double) \
  BELLWETHER_LINEAR_OF(SPACE, float, bf16)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_LINEAR)

}  // namespace bellwether::model
