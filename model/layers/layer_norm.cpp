// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/layer_norm.hpp"

#include "model/layers/rows.hpp"

namespace bellwether::model {
namespace {

template <class Real>
KOKKOS_INLINE_FUNCTION void forward_row(LayerNormForward<Real> const& p, Index r) {
  Index const C = p.C;
  Real* sum = p.sum + r * C;
  if (p.bias != nullptr) {
    BELLWETHER_SIMD
    for (Index k = 0; k < C; ++k) sum[k] += p.bias[k];
  }
  if (p.in_dropout.active()) apply_dropout(p.in_dropout, p.origin.samples[r], p.origin.positions[r], 0, C, sum);
  if (p.residual != nullptr) {
    Real const* residual = p.residual + r * C;
    BELLWETHER_SIMD
    for (Index k = 0; k < C; ++k) sum[k] += residual[k];
  }
  Real total = 0;
  BELLWETHER_SIMD_SUM(total)
  for (Index k = 0; k < C; ++k) total += sum[k];
  Real const mean = total / static_cast<Real>(C);
  Real squares = 0;
  BELLWETHER_SIMD_SUM(squares)
  for (Index k = 0; k < C; ++k) squares += (sum[k] - mean) * (sum[k] - mean);
  Real const scale = Real(1) / Kokkos::sqrt(squares / static_cast<Real>(C) + p.epsilon);
  Real* y = p.y + r * C;
  BELLWETHER_SIMD
  for (Index k = 0; k < C; ++k) y[k] = (sum[k] - mean) * scale * p.gamma[k] + p.beta[k];
  if (p.out_dropout.active()) apply_dropout(p.out_dropout, p.origin.samples[r], p.origin.positions[r], 0, C, y);
  p.mean[r] = mean;
  p.inverse_deviation[r] = scale;
}

/// dsum = (g - mean(g) - xhat * mean(g * xhat)) / deviation with g = dy * gamma and xhat the normalised sum.
template <class Real>
KOKKOS_INLINE_FUNCTION void backward_row(LayerNormBackward<Real> const& p, Index r, Real* dgamma, Real* dbeta,
                                         Real* dbias) {
  Index const C = p.C;
  Real const* sum = p.sum + r * C;
  Real* dsum = p.dsum + r * C;
  if (p.dsum != p.dy) {
    BELLWETHER_SIMD
    for (Index k = 0; k < C; ++k) dsum[k] = p.dy[r * C + k];
  }
  if (p.out_dropout.active()) apply_dropout(p.out_dropout, p.origin.samples[r], p.origin.positions[r], 0, C, dsum);
  Real const mean = p.mean[r], scale = p.inverse_deviation[r];
  Real total = 0, product = 0;
  BELLWETHER_SIMD_SUM(total, product)
  for (Index k = 0; k < C; ++k) {
    Real const xhat = (sum[k] - mean) * scale;
    Real const g = dsum[k] * p.gamma[k];
    dgamma[k] += dsum[k] * xhat;
    dbeta[k] += dsum[k];
    total += g;
    product += g * xhat;
  }
  total /= static_cast<Real>(C);
  product /= static_cast<Real>(C);
  BELLWETHER_SIMD
  for (Index k = 0; k < C; ++k) {
    Real const xhat = (sum[k] - mean) * scale;
    dsum[k] = (dsum[k] * p.gamma[k] - total - xhat * product) * scale;
  }
  Real const* da = dsum;
  if (p.da != nullptr) {
    Real* own = p.da + r * C;
    BELLWETHER_SIMD
    for (Index k = 0; k < C; ++k) own[k] = dsum[k];
    if (p.in_dropout.active()) apply_dropout(p.in_dropout, p.origin.samples[r], p.origin.positions[r], 0, C, own);
    da = own;
  }
  if (p.dbias != nullptr) {
    BELLWETHER_SIMD
    for (Index k = 0; k < C; ++k) dbias[k] += da[k];
  }
}

}  // namespace

template <class Real, class Space>
void layer_norm_forward(Space const& exec, LayerNormForward<Real> const& p) {
  Kokkos::parallel_for(
      "bellwether::model::layer_norm_forward", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, p.rows),
      KOKKOS_LAMBDA(Index r) { forward_row(p, r); });
}

template <class Real, class Space>
void layer_norm_backward(Space const& exec, LayerNormBackward<Real> const& p) {
  Index const blocks = row_blocks(p.rows);
  Kokkos::parallel_for(
      "bellwether::model::layer_norm_backward", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, blocks),
      KOKKOS_LAMBDA(Index block) {
        Real* out = p.partial + block * 3 * p.C;
        for (Index k = 0; k < 3 * p.C; ++k) out[k] = 0;
        Index const end = Kokkos::min(p.rows, (block + 1) * row_block);
        for (Index r = block * row_block; r < end; ++r) backward_row(p, r, out, out + p.C, out + 2 * p.C);
      });
  Real const* partial = p.partial;
  add_block_sums<Real>(exec, blocks, 3 * p.C, 0, p.C, partial, p.dgamma);
  add_block_sums<Real>(exec, blocks, 3 * p.C, p.C, p.C, partial, p.dbeta);
  if (p.dbias != nullptr) add_block_sums<Real>(exec, blocks, 3 * p.C, 2 * p.C, p.C, partial, p.dbias);
}

#define BELLWETHER_LAYER_NORM(SPACE)                                                \
  template void layer_norm_forward(SPACE const&, LayerNormForward<float> const&);   \
  template void layer_norm_forward(SPACE const&, LayerNormForward<double> const&);  \
  template void layer_norm_backward(SPACE const&, LayerNormBackward<float> const&); \
  template void layer_norm_backward(SPACE const&, LayerNormBackward<double> const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_LAYER_NORM)

}  // namespace bellwether::model
