// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/layers/layer_norm.hpp"
#include "model/layers/rows.hpp"

/// Bodies of the kernels of layer_norm.hpp, for for_each_row().
namespace bellwether::model {

template <class Real, class Stored = Real>
struct NormaliseRow {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index r) const {
    Index const C = p.C;
    Stored* const sum = p.sum + r * C;
    Stored* const y = p.y + r * C;
    Real const* const gamma = p.gamma;
    Real const* const beta = p.beta;
    if (p.bias != nullptr) {
      Real const* const bias = p.bias;
      Stored const* const residual = p.residual + r * C;
      each_dropped<Real>(row, p.in_dropout, p.origin, r, C,
                         [=](Index k, Real factor) { sum[k] = Stored((sum[k] + bias[k]) * factor + residual[k]); });
      row.sync();
    }
    Real const mean = row.template sum<Real>(C, [=](Index k) { return Real(sum[k]); }) / static_cast<Real>(C);
    Real const squares = row.template sum<Real>(C, [=](Index k) { return (sum[k] - mean) * (sum[k] - mean); });
    Real const scale = Real(1) / Kokkos::sqrt(squares / static_cast<Real>(C) + p.epsilon);
    each_dropped<Real>(row, p.out_dropout, p.origin, r, C, [=](Index k, Real factor) {
      y[k] = Stored(((sum[k] - mean) * scale * gamma[k] + beta[k]) * factor);
    });
    row.once([&] {
      p.mean[r] = mean;
      p.inverse_deviation[r] = scale;
    });
  }

  LayerNormForward<Real, Stored> p;
};

/// Gradients of a block of rows: dsum = (g - mean(g) - xhat * mean(g * xhat)) / deviation. Here g = dy * gamma, and
/// xhat is the normalised sum. Also the block's partial column sums.
template <class Real, class Stored = Real>
struct NormaliseBlockBackward {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index block) const {
    Real* const sums = partial + block * columns;
    row.each(columns, [=](Index k) { sums[k] = 0; });
    row.sync();
    Index const end = Kokkos::min(p.rows, (block + 1) * row_block);
    for (Index r = block * row_block; r < end; ++r) of_row(row, r, sums);
  }

  template <class Row>
  KOKKOS_INLINE_FUNCTION void of_row(Row const& row, Index r, Real* dgamma) const {
    Index const C = p.C;
    Real *const dbeta = dgamma + C, *const dbias = dgamma + 2 * C;
    Stored const* const sum = p.sum + r * C;
    Real const* const gamma = p.gamma;
    Real* const dsum = p.dsum + r * C;
    Real const mean = p.mean[r], scale = p.inverse_deviation[r];
    if (p.out_dropout.active() || p.dsum != p.dy) {
      Real const* const dy = p.dy + r * C;
      each_dropped<Real>(row, p.out_dropout, p.origin, r, C, [=](Index k, Real factor) { dsum[k] = dy[k] * factor; });
      row.sync();
    }
    auto const means = row.template two_sums<Real>(C, [=](Index k) {
      Real const xhat = (sum[k] - mean) * scale;
      Real const g = dsum[k] * gamma[k];
      dgamma[k] += dsum[k] * xhat;
      dbeta[k] += dsum[k];
      return Pair<Real>{g, g * xhat};
    });
    Real const total = means.first / static_cast<Real>(C), product = means.second / static_cast<Real>(C);
    auto const gradient = [=](Index k) {
      Real const xhat = (sum[k] - mean) * scale;
      return (dsum[k] * gamma[k] - total - xhat * product) * scale;
    };
    if (p.da == nullptr) return row.each(C, [=](Index k) { dsum[k] = gradient(k); });
    row.sync();
    Stored* const da = p.da + r * C;
    each_dropped<Real>(row, p.in_dropout, p.origin, r, C, [=](Index k, Real factor) {
      Real const d = gradient(k);
      dsum[k] = d;
      da[k] = Stored(d * factor);
      dbias[k] += d * factor;
    });
  }

  LayerNormBackward<Real, Stored> p;
  Index columns;  ///< 3 C, or 2 C without a bias
  Real* partial;  ///< (row_blocks(rows), columns)
};

}  // namespace bellwether::model
