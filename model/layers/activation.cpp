// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/activation.hpp"

#include "core/gemm/gemm_tile.hpp"
#include "model/layers/activation_body.hpp"
#include "model/layers/column_strips.hpp"

#include <algorithm>

namespace bellwether::model {
namespace {

/// Calls body(Gelu) with the function for `kind`.
template <class Body>
void with_gelu(Activation kind, Body const& body) {
  if (kind == Activation::gelu_erf)
    body(GeluErf{});
  else
    body(GeluTanh{});
}

}  // namespace

template <class Real, class Stored, class Space>
void bias_gelu_forward(Space const& exec, Activation kind, Index rows, Index F, Real const* bias, Stored* pre,
                       Stored* y) {
  with_gelu(kind, [&]<class Gelu>(Gelu) {
    for_each_row("bellwether::model::bias_gelu_forward", exec, rows, F,
                 BiasGeluRow<Gelu, Real, Stored>{F, bias, pre, y});
  });
}

template <class Stored, class Space>
void gelu_forward(Space const& exec, Activation kind, Index rows, Index F, Stored const* pre, Stored* y) {
  constexpr char const* label = "bellwether::model::gelu_forward";
  with_gelu(kind, [&]<class Gelu>(Gelu) {
    if constexpr (has_packs<SumOf<Stored>, Space>) {
      constexpr int own = widest_pack<Stored>;
      if (F % own == 0 && begin_packs<own>(pre, y)) {
        Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, rows * F / own),
                             GeluPack<Gelu, Stored, own>{pre, y});
        return;
      }
    }
    for_each_row(label, exec, rows, F, GeluRow<Gelu, SumOf<Stored>, Stored>{F, pre, y});
  });
}

template <class Real, class Stored, class Given, class Space>
void bias_gelu_backward(Space const& exec, Activation kind, Index rows, Index F, Stored const* pre, Given const* dy,
                        Stored* dpre, BlockScratchOf<Real> const& scratch, Real* dbias) {
  constexpr char const* label = "bellwether::model::bias_gelu_backward";
  scratch.sum(exec, row_blocks(rows), {F, {dbias}}, [&](Real* partial) {
    with_gelu(kind, [&]<class Gelu>(Gelu) {
      if constexpr (has_packs<Real, Space>) {
        constexpr int own = std::min(widest_pack<Stored>, widest_pack<Given>);
        if (F % own == 0 && begin_packs<own>(pre, dpre) && begin_packs<own>(dy) && begin_packs<4>(partial)) {
          sum_strips<own>(label, exec, rows, F, partial, StripOfGelu<Gelu, Stored, Given, own>{F, pre, dy, dpre});
          return;
        }
      }
      for_each_row(label, exec, row_blocks(rows), F,
                   BiasGeluBlockBackward<Gelu, Real, Stored, Given>{rows, F, pre, dy, dpre, partial});
    });
  });
}

template <class Real, class Stored, class Space>
void bias_tanh_forward(Space const& exec, Index rows, Index C, Real const* bias, Stored* y) {
  for_each_row("bellwether::model::bias_tanh_forward", exec, rows, C, BiasTanhRow<Real, Stored>{C, bias, y});
}

template <class Stored, class Space>
void tanh_backward(Space const& exec, Index rows, Index C, Stored const* y, Stored* dy) {
  for_each_row("bellwether::model::tanh_backward", exec, rows, C, TanhRowBackward<Stored>{C, y, dy});
}

#define BELLWETHER_GELU_BACKWARD(SPACE, REAL, STORED, GIVEN)                                                     \
  template void bias_gelu_backward(SPACE const&, Activation, Index, Index, STORED const*, GIVEN const*, STORED*, \
                                   BlockScratchOf<REAL> const&, REAL*);
#define BELLWETHER_ACTIVATION_OF(SPACE, REAL, STORED)                                                     \
  BELLWETHER_GELU_BACKWARD(SPACE, REAL, STORED, STORED)                                                   \
  template void bias_gelu_forward(SPACE const&, Activation, Index, Index, REAL const*, STORED*, STORED*); \
  template void gelu_forward(SPACE const&, Activation, Index, Index, STORED const*, STORED*);             \
  template void bias_tanh_forward(SPACE const&, Index, Index, REAL const*, STORED*);                      \
  template void tanh_backward(SPACE const&, Index, Index, STORED const*, STORED*);
#define BELLWETHER_ACTIVATION(SPACE)              \
  BELLWETHER_ACTIVATION_OF(SPACE, float, float)   \
  BELLWETHER_ACTIVATION_OF(SPACE, double, double) \
  BELLWETHER_ACTIVATION_OF(SPACE, float, bf16)    \
  BELLWETHER_GELU_BACKWARD(SPACE, float, bf16, float)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_ACTIVATION)

}  // namespace bellwether::model
