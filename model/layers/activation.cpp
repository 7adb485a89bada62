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
void bias_gelu_forward(Space const& exec, Activation kind, BiasGeluForward<Real, Stored> const& p) {
  with_gelu(kind, [&]<class Gelu>(Gelu) {
    for_each_row("bellwether::model::bias_gelu_forward", exec, p.rows, p.F,
                 BiasGeluRow<Gelu, Real, Stored>{p.F, p.bias, p.pre, p.y});
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
void bias_gelu_backward(Space const& exec, Activation kind, BiasGeluBackward<Real, Stored, Given> const& p,
                        BlockScratchOf<Real> const& scratch) {
  constexpr char const* label = "bellwether::model::bias_gelu_backward";
  scratch.sum(exec, row_blocks(p.rows), {p.F, {p.dbias}}, [&](Real* partial) {
    with_gelu(kind, [&]<class Gelu>(Gelu) {
      if constexpr (has_packs<Real, Space>) {
        constexpr int own = std::min(widest_pack<Stored>, widest_pack<Given>);
        if (p.F % own == 0 && begin_packs<own>(p.pre, p.dpre) && begin_packs<own>(p.dy) && begin_packs<4>(partial)) {
          sum_strips<own>(label, exec, p.rows, p.F, partial,
                          StripOfGelu<Gelu, Stored, Given, own>{p.F, p.pre, p.dy, p.dpre});
          return;
        }
      }
      for_each_row(label, exec, row_blocks(p.rows), p.F,
                   BiasGeluBlockBackward<Gelu, Real, Stored, Given>{p.rows, p.F, p.pre, p.dy, p.dpre, partial});
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

#define BELLWETHER_GELU_BACKWARD(SPACE, REAL, STORED, GIVEN)                                               \
  template void bias_gelu_backward(SPACE const&, Activation, BiasGeluBackward<REAL, STORED, GIVEN> const&, \
                                   BlockScratchOf<REAL> const&);
#define BELLWETHER_ACTIVATION_OF(SPACE, REAL, STORED)                                              \
  BELLWETHER_GELU_BACKWARD(SPACE, REAL, STORED, STORED)                                            \
  template void bias_gelu_forward(SPACE const&, Activation, BiasGeluForward<REAL, STORED> const&); \
  template void gelu_forward(SPACE const&, Activation, Index, Index, STORED const*, STORED*);      \
  template void bias_tanh_forward(SPACE const&, Index, Index, REAL const*, STORED*);               \
  template void tanh_backward(SPACE const&, Index, Index, STORED const*, STORED*);
#define BELLWETHER_ACTIVATION(SPACE)              \
  BELLWETHER_ACTIVATION_OF(SPACE, float, float)   \
  BELLWETHER_ACTIVATION_OF(SPACE, double, double) \
  BELLWETHER_ACTIVATION_OF(SPACE, float, bf16)    \
  BELLWETHER_GELU_BACKWARD(SPACE, float, bf16, float)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_ACTIVATION)

}  // namespace bellwether::model
