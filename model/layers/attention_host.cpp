// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm/gemm.hpp"
#include "model/layers/attention.hpp"

#include <algorithm>
#include <cmath>

namespace bellwether::model {
namespace {

/// One head of one sequence.
template <class Real, class Stored>
struct Head {
  Index length;  // S
  Index width;   // D
  Index stride;  // elements between tokens in qkv: 3 C
  Index head;
  std::int64_t sample;
  Real scale;  // 1 / sqrt(D)
  Stored const *q, *k, *v;
};

template <class Real, class Stored>
Head<Real, Stored> head_of(Attention<Real, Stored> const& p, Index pair) {
  Index const b = pair / p.heads, h = pair % p.heads, D = p.C / p.heads;
  Index const first = p.sequence_offsets[b];
  Stored const* q = p.qkv + first * 3 * p.C + h * D;
  return {p.sequence_offsets[b + 1] - first,         D, 3 * p.C, h,          p.samples[b],
          Real(1) / std::sqrt(static_cast<Real>(D)), q, q + p.C, q + 2 * p.C};
}

/// row <- softmax(row), without overflow. row: (count).
template <class Real>
void softmax_row(Index count, Real* row) {
  Real largest = row[0];
  BELLWETHER_SIMD_MAX(largest)
  for (Index k = 0; k < count; ++k) largest = row[k] > largest ? row[k] : largest;
  Real total = 0;
  BELLWETHER_SIMD_SUM(total)
  for (Index k = 0; k < count; ++k) {
    row[k] = math::exp(row[k] - largest);
    total += row[k];
  }
  Real const scale = Real(1) / total;
  BELLWETHER_SIMD
  for (Index k = 0; k < count; ++k) row[k] *= scale;
}

/// probabilities <- softmax(Q K^T / sqrt(D)). probabilities: (S, S); rows are queries.
template <class Real, class Stored>
void form_probabilities(Head<Real, Stored> const& h, Real* probabilities) {
  gemm_tile({Op::none, Op::transpose, h.length, h.length, h.width}, ConstMatrix{h.q, h.stride},
            ConstMatrix{h.k, h.stride}, Matrix{probabilities, h.length}, {.alpha = h.scale});
  for (Index i = 0; i < h.length; ++i) softmax_row(h.length, probabilities + i * h.length);
}

template <class Real>
struct ScaleBy {
  KOKKOS_INLINE_FUNCTION void operator()(Index k, Real factor) const { row[k] *= factor; }
  Real* row;
};

template <class Real, class Stored>
void drop(Attention<Real, Stored> const& p, Head<Real, Stored> const& h, Real* weights) {
  auto const chunk = static_cast<std::uint32_t>(h.head * p.position_stride / dropout_chunk);
  for (Index i = 0; i < h.length; ++i)
    each_factor<Real>(ThreadRow{}, p.dropout, {h.sample, static_cast<std::int32_t>(i), chunk}, h.length,
                      ScaleBy<Real>{weights + i * h.length});
}

template <class Real, class Stored>
void forward_head(Attention<Real, Stored> const& p, Head<Real, Stored> const& h, Real* weights, Stored* context) {
  form_probabilities(h, weights);
  if (p.dropout.active()) drop(p, h, weights);
  gemm_tile({Op::none, Op::none, h.length, h.width, h.length}, ConstMatrix{weights, h.length},
            ConstMatrix{h.v, h.stride}, Matrix{context, p.C});
}

/// W = mask * P. dW = dO V^T. dV = W^T dO. dS = W * dW - P * rowsum(W * dW), because P * mask * dW = W * dW.
template <class Real, class Stored>
void backward_head(Attention<Real, Stored> const& p, Head<Real, Stored> const& h, Real* scratch, Stored const* dcontext,
                   Stored* dq) {
  Index const S = h.length, D = h.width;
  Real *probabilities = scratch, *weights = scratch + S * S, *dweights = scratch + 2 * S * S;
  form_probabilities(h, probabilities);
  if (p.dropout.active()) {
    std::copy(probabilities, probabilities + S * S, weights);
    drop(p, h, weights);
  } else {
    weights = probabilities;
  }
  Stored *dk = dq + p.C, *dv = dq + 2 * p.C;
  gemm_tile({Op::transpose, Op::none, S, D, S}, ConstMatrix{weights, S}, ConstMatrix{dcontext, p.C},
            Matrix{dv, h.stride});
  gemm_tile({Op::none, Op::transpose, S, S, D}, ConstMatrix{dcontext, p.C}, ConstMatrix{h.v, h.stride},
            Matrix{dweights, S});
  for (Index i = 0; i < S; ++i) {
    Real *d = dweights + i * S, *w = weights + i * S, *pr = probabilities + i * S;
    Real total = 0;
    BELLWETHER_SIMD_SUM(total)
    for (Index j = 0; j < S; ++j) {
      d[j] *= w[j];
      total += d[j];
    }
    BELLWETHER_SIMD
    for (Index j = 0; j < S; ++j) d[j] -= pr[j] * total;
  }
  gemm_tile({Op::none, Op::none, S, D, S}, ConstMatrix{dweights, S}, ConstMatrix{h.k, h.stride}, Matrix{dq, h.stride},
            {.alpha = h.scale});
  gemm_tile({Op::transpose, Op::none, S, D, S}, ConstMatrix{dweights, S}, ConstMatrix{h.q, h.stride},
            Matrix{dk, h.stride}, {.alpha = h.scale});
}

/// Calls body(pair, scratch of a slot) for every pair. The assignment of pairs to slots does not affect results.
template <class Real, class Stored, class Space, class Body>
void for_each_head(Space const& exec, char const* label, Attention<Real, Stored> const& p, Body const& body) {
  Index const slots = exec.concurrency(), pairs = p.sequences * p.heads, size = 3 * p.longest * p.longest;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, slots), [=](Index slot) {
    for (Index pair = slot; pair < pairs; pair += slots) body(pair, p.scratch + slot * size);
  });
}

}  // namespace

template <class Real, class Stored, class Space>
Index attention_scratch(Space const& exec, Index, Index, Index, Index longest) {
  return exec.concurrency() * 3 * longest * longest;
}

template <class Real, class Stored, class Space>
Index attention_keeps(Space const&, Index, Index, Index) {
  return 0;
}

template <class Real, class Stored, class Space>
void attention_forward(Space const& exec, Attention<Real, Stored> const& p, Stored* context) {
  for_each_head(exec, "bellwether::model::attention_forward", p, [=](Index pair, Real* scratch) {
    auto const h = head_of(p, pair);
    forward_head(p, h, scratch, context + p.sequence_offsets[pair / p.heads] * p.C + h.head * h.width);
  });
}

template <class Real, class Stored, class Space>
void attention_backward(Space const& exec, Attention<Real, Stored> const& p, Stored const* dcontext, Stored* dqkv) {
  for_each_head(exec, "bellwether::model::attention_backward", p, [=](Index pair, Real* scratch) {
    auto const h = head_of(p, pair);
    Index const first = p.sequence_offsets[pair / p.heads], column = h.head * h.width;
    backward_head(p, h, scratch, dcontext + first * p.C + column, dqkv + first * h.stride + column);
  });
}

BELLWETHER_FOR_EACH_HOST_SPACE(BELLWETHER_ATTENTION)

}  // namespace bellwether::model
