// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/gelu.hpp"
#include "core/simd/pack.hpp"
#include "core/simd/row_walk.hpp"
#include "model/layers/rows.hpp"

/// Bodies of the kernels of activation.hpp, for for_each_row().
namespace bellwether::model {

template <class Gelu, class Real, class Stored>
struct BiasGeluRow {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index r) const {
    Stored *const in = pre + r * F, *const out = y + r * F;
    Real const* const added = bias;
    row.each(F, [=](Index k) {
      Real const x = in[k] + added[k];
      in[k] = Stored(x);
      out[k] = Stored(Gelu::value(x));
    });
  }

  Index F;
  Real const* bias;
  Stored *pre, *y;
};

/// y = GELU(pre); pre already contains the bias.
template <class Gelu, class Real, class Stored>
struct GeluRow {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index r) const {
    Stored const* const in = pre + r * F;
    Stored* const out = y + r * F;
    row.each(F, [=](Index k) { out[k] = Stored(Gelu::value(Real(in[k]))); });
  }

  Index F;
  Stored const* pre;
  Stored* y;
};

/// y = GELU(pre) for `own` adjacent elements, read with one access.
template <class Gelu, class Stored, int own>
struct GeluPack {
  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    float x[own];
    load(pre + i * own, x);
    BELLWETHER_UNROLL
    for (float& value : x) value = Gelu::value(value);
    store(y + i * own, x);
  }

  Stored const* pre;
  Stored* y;
};

/// Gradients of a block of rows, and the block's partial column sums.
template <class Gelu, class Real, class Stored, class Given>
struct BiasGeluBlockBackward {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index block) const {
    Real* const sums = partial + block * F;
    row.each(F, [=](Index k) { sums[k] = 0; });
    Index const end = Kokkos::min(rows, (block + 1) * row_block);
    for (Index r = block * row_block; r < end; ++r) {
      Given const* const d = dy + r * F;
      Stored const* const x = pre + r * F;
      Stored* const out = dpre + r * F;
      row.each(F, [=](Index k) {
        Real const g = d[k] * Gelu::slope(Real(x[k]));
        out[k] = Stored(g);
        sums[k] += g;
      });
    }
  }

  Index rows, F;
  Stored const* pre;
  Given const* dy;
  Stored* dpre;
  Real* partial;
};

template <class Real, class Stored>
struct BiasTanhRow {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index r) const {
    Stored* const out = y + r * C;
    Real const* const added = bias;
    row.each(C, [=](Index k) { out[k] = Stored(math::tanh(out[k] + added[k])); });
  }

  Index C;
  Real const* bias;
  Stored* y;
};

template <class Stored>
struct TanhRowBackward {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index r) const {
    Stored const* const out = y + r * C;
    Stored* const d = dy + r * C;
    row.each(C, [=](Index k) { d[k] = Stored(d[k] * (1 - out[k] * out[k])); });
  }

  Index C;
  Stored const* y;
  Stored* dy;
};

}  // namespace bellwether::model
