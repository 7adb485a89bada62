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

/// A layer without its bias: y = x W^T.
template <class Stored>
struct Layer {
  template <class Space>
  void multiply(Space const& exec) const {
    gemm(exec, shape(), ConstMatrix{x, in}, ConstMatrix{W, in}, Matrix{y, out});
  }
  /// Multiplies with an epilogue. Returns false and does nothing if the space has no such product.
  template <class Space>
  bool fused(Space const& exec, Epilogue<Stored> const& epilogue) const {
    return gemm_with(exec, epilogue, shape(), ConstMatrix{x, in}, ConstMatrix{W, in}, Matrix{y, out});
  }
  GemmShape shape() const { return {Op::none, Op::transpose, rows, out, in}; }

  Index rows, in, out;
  Stored const *x, *W;
  Stored* y;
};

}  // namespace

template <class Real, class Stored, class Space>
void linear_forward(Space const& exec, LinearForward<Real, Stored> const& p) {
  using Kind = typename Epilogue<Stored>::Kind;
  Layer<Stored> const layer{p.rows, p.in, p.out, p.x, p.W, p.y};
  if (layer.fused(exec, {.kind = Kind::bias, .bias = p.bias.stored})) return;
  layer.multiply(exec);
  add_bias(exec, p.rows, p.out, p.bias.value, p.y);
}

template <class Real, class Stored, class Space>
void linear_gelu_forward(Space const& exec, Activation kind, LinearGeluForward<Real, Stored> const& p) {
  using Kind = typename Epilogue<Stored>::Kind;
  Layer<Stored> const activated{p.rows, p.in, p.out, p.x, p.W, p.y}, plain{p.rows, p.in, p.out, p.x, p.W, p.pre};
  if (kind == Activation::gelu_tanh &&
      activated.fused(exec, {.kind = Kind::bias_gelu, .bias = p.bias.stored, .pre = p.pre}))
    return;
  // No library has the erf form of GELU: fuse the bias only, and let GELU read the result.
  if (plain.fused(exec, {.kind = Kind::bias, .bias = p.bias.stored})) {
    gelu_forward(exec, kind, p.rows, p.out, p.pre, p.y);
    return;
  }
  plain.multiply(exec);
  bias_gelu_forward(
      exec, kind,
      BiasGeluForward<Real, Stored>{.rows = p.rows, .F = p.out, .bias = p.bias.value, .pre = p.pre, .y = p.y});
}

template <class Real, class Stored, class Space>
void linear_gradients(Space const& exec, LinearGradients<Real, Stored> const& p, BlockScratchOf<Real> const& scratch) {
  ConstMatrix const dy{p.dy, p.stride}, x{p.x, p.in};
  Matrix const dW{p.dW, p.in};
  if constexpr (TeamShape<Space>::host)
    if (gemm_with_column_sums(exec, {p.out, p.in, p.rows}, dy, x, dW, p.dbias)) return;
  gemm(exec, {Op::transpose, Op::none, p.out, p.in, p.rows}, dy, x, dW, {.beta = 1});
  add_column_sums<Real>(exec, StoredRows<Stored>{p.rows, p.stride, p.dy}, p.out, scratch, p.dbias);
}

template <class Real, class Stored, class Space>
void gelu_linear_backward(Space const& exec, Activation kind, GeluLinearBackward<Real, Stored> const& p,
                          BlockScratchOf<Real> const& scratch) {
  using Kind = typename Epilogue<Stored>::Kind;
  GemmShape const shape{Op::none, Op::none, p.rows, p.in, p.out};
  ConstMatrix const dz{p.dz, p.out}, V{p.V, p.in};
  Matrix const dpre{p.dpre, p.in};
  // The library's sums for the bias would be rounded to Stored and would overwrite dbias instead of adding to it.
  if (kind == Activation::gelu_tanh && gemm_with(exec, {.kind = Kind::gelu_slope, .at = p.pre}, shape, dz, V, dpre)) {
    add_column_sums<Real>(exec, StoredRows<Stored>{p.rows, p.in, p.dpre}, p.in, scratch, p.dbias);
    return;
  }
  gemm(exec, shape, dz, V, dpre);
  bias_gelu_backward(exec, kind,
                     BiasGeluBackward<Real, Stored, Stored>{
                         .rows = p.rows, .F = p.in, .pre = p.pre, .dy = p.dpre, .dpre = p.dpre, .dbias = p.dbias},
                     scratch);
}

#define BELLWETHER_LINEAR_OF(SPACE, REAL, STORED)                                                                  \
  template void linear_forward(SPACE const&, LinearForward<REAL, STORED> const&);                                  \
  template void linear_gelu_forward(SPACE const&, Activation, LinearGeluForward<REAL, STORED> const&);             \
  template void linear_gradients(SPACE const&, LinearGradients<REAL, STORED> const&, BlockScratchOf<REAL> const&); \
  template void gelu_linear_backward(SPACE const&, Activation, GeluLinearBackward<REAL, STORED> const&,            \
                                     BlockScratchOf<REAL> const&);
#define BELLWETHER_LINEAR(SPACE)              \
  BELLWETHER_LINEAR_OF(SPACE, float, float)   \
  BELLWETHER_LINEAR_OF(SPACE, double, double) \
  BELLWETHER_LINEAR_OF(SPACE, float, bf16)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_LINEAR)

}  // namespace bellwether::model
