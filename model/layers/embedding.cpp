// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/embedding.hpp"

#include "core/math.hpp"
#include "model/layers/rows.hpp"

namespace bellwether::model {
namespace {

template <class Space>
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>;

template <class Real>
KOKKOS_INLINE_FUNCTION void add_row(Index C, Real const* from, Real* to) {
  BELLWETHER_SIMD
  for (Index k = 0; k < C; ++k) to[k] += from[k];
}

}  // namespace

template <class Real, class Space>
void embedding_forward(Space const& exec, Index T, Index C, std::int32_t const* ids, std::int32_t const* positions,
                       std::int32_t const* segments, Real const* word, Real const* position, Real const* segment,
                       Real* sum) {
  Kokkos::parallel_for(
      "bellwether::model::embedding_forward", Range<Space>(exec, 0, T), KOKKOS_LAMBDA(Index t) {
        Real const* w = word + ids[t] * C;
        Real const* p = position + positions[t] * C;
        Real const* s = segment + segments[t] * C;
        Real* out = sum + t * C;
        BELLWETHER_SIMD
        for (Index k = 0; k < C; ++k) out[k] = w[k] + s[k] + p[k];
      });
}

template <class Real, class Space>
void embedding_backward(Space const& exec, Index T, Index C, TokenIndex const& tokens, Index sequences, Index longest,
                        std::int32_t const* sequence_offsets, std::int32_t const* segments, Index segment_rows,
                        Real const* dsum, Real* partial, Real* dword, Real* dposition, Real* dsegment) {
  Kokkos::parallel_for(
      "bellwether::model::word_embedding_backward", Range<Space>(exec, 0, tokens.entries), KOKKOS_LAMBDA(Index u) {
        for (Index i = tokens.starts[u]; i < tokens.starts[u + 1]; ++i)
          add_row(C, dsum + tokens.order[i] * C, dword + tokens.ids[u] * C);
      });
  Kokkos::parallel_for(
      "bellwether::model::position_embedding_backward", Range<Space>(exec, 0, longest), KOKKOS_LAMBDA(Index position) {
        for (Index b = 0; b < sequences; ++b) {
          Index const row = sequence_offsets[b] + position;
          if (row < sequence_offsets[b + 1]) add_row(C, dsum + row * C, dposition + position * C);
        }
      });
  Index const blocks = row_blocks(T), stride = segment_rows * C;
  Kokkos::parallel_for(
      "bellwether::model::segment_embedding_backward", Range<Space>(exec, 0, blocks), KOKKOS_LAMBDA(Index block) {
        Real* out = partial + block * stride;
        for (Index k = 0; k < stride; ++k) out[k] = 0;
        Index const end = Kokkos::min(T, (block + 1) * row_block);
        for (Index t = block * row_block; t < end; ++t) add_row(C, dsum + t * C, out + segments[t] * C);
      });
  add_block_sums<Real>(exec, blocks, stride, 0, stride, partial, dsegment);
}

#define BELLWETHER_EMBEDDING_OF(SPACE, REAL)                                                                         \
  template void embedding_forward(SPACE const&, Index, Index, std::int32_t const*, std::int32_t const*,              \
                                  std::int32_t const*, REAL const*, REAL const*, REAL const*, REAL*);                \
  template void embedding_backward(SPACE const&, Index, Index, TokenIndex const&, Index, Index, std::int32_t const*, \
                                   std::int32_t const*, Index, REAL const*, REAL*, REAL*, REAL*, REAL*);
#define BELLWETHER_EMBEDDING(SPACE)     \
  BELLWETHER_EMBEDDING_OF(SPACE, float) \
  BELLWETHER_EMBEDDING_OF(SPACE, double)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_EMBEDDING)

}  // namespace bellwether::model
