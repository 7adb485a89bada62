// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/activation.hpp"

#include "core/math.hpp"
#include "model/layers/rows.hpp"

namespace bellwether::model {
namespace {

template <class Space>
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>;

constexpr double tanh_scale = 0.79788456080286535588;  // sqrt(2 / pi)
constexpr double tanh_cubic = 0.044715;

struct GeluErf {
  template <class Real>
  KOKKOS_INLINE_FUNCTION static Real value(Real x) {
    return x * math::normal(x).cumulative;
  }
  template <class Real>
  KOKKOS_INLINE_FUNCTION static Real slope(Real x) {
    auto const n = math::normal(x);
    return n.cumulative + x * n.density;
  }
};

struct GeluTanh {
  template <class Real>
  KOKKOS_INLINE_FUNCTION static Real value(Real x) {
    return Real(0.5) * x * (Real(1) + math::tanh(Real(tanh_scale) * (x + Real(tanh_cubic) * x * x * x)));
  }
  template <class Real>
  KOKKOS_INLINE_FUNCTION static Real slope(Real x) {
    Real const t = math::tanh(Real(tanh_scale) * (x + Real(tanh_cubic) * x * x * x));
    Real const inner = Real(tanh_scale) * (Real(1) + Real(3 * tanh_cubic) * x * x);
    return Real(0.5) * (Real(1) + t) + Real(0.5) * x * (Real(1) - t * t) * inner;
  }
};

template <class Gelu, class Real, class Space>
void forward_kernel(Space const& exec, Index rows, Index F, Real const* bias, Real* pre, Real* y) {
  Kokkos::parallel_for(
      "bellwether::model::bias_gelu_forward", Range<Space>(exec, 0, rows), KOKKOS_LAMBDA(Index r) {
        Real *in = pre + r * F, *out = y + r * F;
        BELLWETHER_SIMD
        for (Index k = 0; k < F; ++k) {
          Real const x = in[k] + bias[k];
          in[k] = x;
          out[k] = Gelu::value(x);
        }
      });
}

template <class Gelu, class Real, class Space>
void backward_kernel(Space const& exec, Index rows, Index F, Real const* pre, Real* dy, Real* partial) {
  Kokkos::parallel_for(
      "bellwether::model::bias_gelu_backward", Range<Space>(exec, 0, row_blocks(rows)), KOKKOS_LAMBDA(Index block) {
        Real* sums = partial + block * F;
        for (Index k = 0; k < F; ++k) sums[k] = 0;
        Index const end = Kokkos::min(rows, (block + 1) * row_block);
        for (Index r = block * row_block; r < end; ++r) {
          Real* d = dy + r * F;
          Real const* x = pre + r * F;
          BELLWETHER_SIMD
          for (Index k = 0; k < F; ++k) {
            Real const g = d[k] * Gelu::slope(x[k]);
            d[k] = g;
            sums[k] += g;
          }
        }
      });
}

}  // namespace

template <class Real, class Space>
void bias_gelu_forward(Space const& exec, Activation kind, Index rows, Index F, Real const* bias, Real* pre, Real* y) {
  if (kind == Activation::gelu_erf) return forward_kernel<GeluErf>(exec, rows, F, bias, pre, y);
  forward_kernel<GeluTanh>(exec, rows, F, bias, pre, y);
}

template <class Real, class Space>
void bias_gelu_backward(Space const& exec, Activation kind, Index rows, Index F, Real const* pre, Real* dy,
                        Real* partial, Real* dbias) {
  if (kind == Activation::gelu_erf)
    backward_kernel<GeluErf>(exec, rows, F, pre, dy, partial);
  else
    backward_kernel<GeluTanh>(exec, rows, F, pre, dy, partial);
  add_block_sums<Real>(exec, row_blocks(rows), F, 0, F, partial, dbias);
}

template <class Real, class Space>
void bias_tanh_forward(Space const& exec, Index rows, Index C, Real const* bias, Real* y) {
  Kokkos::parallel_for(
      "bellwether::model::bias_tanh_forward", Range<Space>(exec, 0, rows), KOKKOS_LAMBDA(Index r) {
        for (Index k = 0; k < C; ++k) y[r * C + k] = math::tanh(y[r * C + k] + bias[k]);
      });
}

template <class Real, class Space>
void tanh_backward(Space const& exec, Index rows, Index C, Real const* y, Real* dy) {
  Kokkos::parallel_for(
      "bellwether::model::tanh_backward", Range<Space>(exec, 0, rows), KOKKOS_LAMBDA(Index r) {
        for (Index k = r * C; k < (r + 1) * C; ++k) dy[k] *= Real(1) - y[k] * y[k];
      });
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
