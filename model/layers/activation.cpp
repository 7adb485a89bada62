// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/activation.hpp"

#include "model/layers/activation_body.hpp"

namespace bellwether::model {
namespace {

template <class Gelu, class Real, class Space>
void forward(Space const& exec, Index rows, BiasGeluRow<Gelu, Real> const& body) {
  for_each_row("bellwether::model::bias_gelu_forward", exec, rows, body.F, body);
}

template <class Gelu, class Real, class Space>
void backward(Space const& exec, BiasGeluBlockBackward<Gelu, Real> const& body) {
  for_each_row("bellwether::model::bias_gelu_backward", exec, row_blocks(body.rows), body.F, body);
}

}  // namespace

template <class Real, class Space>
void bias_gelu_forward(Space const& exec, Activation kind, Index rows, Index F, Real const* bias, Real* pre, Real* y) {
  if (kind == Activation::gelu_erf) return forward(exec, rows, BiasGeluRow<GeluErf, Real>{F, bias, pre, y});
  forward(exec, rows, BiasGeluRow<GeluTanh, Real>{F, bias, pre, y});
}

template <class Real, class Space>
void bias_gelu_backward(Space const& exec, Activation kind, Index rows, Index F, Real const* pre, Real* dy,
                        Real* partial, Real* dbias) {
  if (kind == Activation::gelu_erf)
    backward(exec, BiasGeluBlockBackward<GeluErf, Real>{rows, F, pre, dy, partial});
  else
    backward(exec, BiasGeluBlockBackward<GeluTanh, Real>{rows, F, pre, dy, partial});
  add_block_sums<Real>(exec, row_blocks(rows), partial, {F, {dbias}});
}

template <class Real, class Space>
void bias_tanh_forward(Space const& exec, Index rows, Index C, Real const* bias, Real* y) {
  for_each_row("bellwether::model::bias_tanh_forward", exec, rows, C, BiasTanhRow<Real>{C, bias, y});
}

template <class Real, class Space>
void tanh_backward(Space const& exec, Index rows, Index C, Real const* y, Real* dy) {
  for_each_row("bellwether::model::tanh_backward", exec, rows, C, TanhRowBackward<Real>{C, y, dy});
}

#define BELLWETHER_ACTIVATION_OF(SPACE, REAL)                                                                 \
  template void bias_gelu_forward(SPACE const&, Activation, Index, Index, REAL const*, REAL*, REAL*);         \
  template void bias_gelu_backward(SPACE const&, Activation, Index, Index, REAL const*, REAL*, REAL*, REAL*); \
  template void bias_tanh_forward(SPACE const&, Index, Index, REAL const*, REAL*);                            \
  template void tanh_backward(SPACE const&, Index, Index, REAL const*, REAL*);
#define BELLWETHER_ACTIVATION(SPACE)     \
  BELLWETHER_ACTIVATION_OF(SPACE, float) \
  BELLWETHER_ACTIVATION_OF(SPACE, double)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_ACTIVATION)

}  // namespace bellwether::model
