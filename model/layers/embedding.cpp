// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/embedding.hpp"

#include "model/layers/embedding_body.hpp"

namespace bellwether::model {

template <class Real, class Stored, class Space>
void embedding_forward(Space const& exec, Index T, Index C, std::int32_t const* ids, std::int32_t const* positions,
                       std::int32_t const* segments, Real const* word, Real const* position, Real const* segment,
                       Stored* sum) {
  for_each_row("bellwether::model::embedding_forward", exec, T, C,
               EmbedRow<Real, Stored>{C, ids, positions, segments, word, position, segment, sum});
}

template <class Real, class Space>
void embedding_backward(Space const& exec, Index T, Index C, TokenIndex const& tokens, Index sequences, Index longest,
                        std::int32_t const* sequence_offsets, std::int32_t const* segments, Index segment_rows,
                        Real const* dsum, BlockScratchOf<Real> const& scratch, Real* dword, Real* dposition,
                        Real* dsegment) {
  for_each_row("bellwether::model::word_embedding_backward", exec, tokens.entries, C,
               WordBackward<Real>{C, tokens, dsum, dword});
  for_each_row("bellwether::model::position_embedding_backward", exec, longest, C,
               PositionBackward<Real>{C, sequences, sequence_offsets, dsum, dposition});
  scratch.sum(exec, row_blocks(T), {segment_rows * C, {dsegment}}, [&](Real* partial) {
    for_each_row("bellwether::model::segment_embedding_backward", exec, row_blocks(T), C,
                 SegmentBlockBackward<Real>{T, C, segment_rows, segments, dsum, partial});
  });
}

#define BELLWETHER_EMBEDDING_FORWARD(SPACE, REAL, STORED)                                               \
  template void embedding_forward(SPACE const&, Index, Index, std::int32_t const*, std::int32_t const*, \
                                  std::int32_t const*, REAL const*, REAL const*, REAL const*, STORED*);
#define BELLWETHER_EMBEDDING_OF(SPACE, REAL)                                                                           \
  BELLWETHER_EMBEDDING_FORWARD(SPACE, REAL, REAL)                                                                      \
  template void embedding_backward(SPACE const&, Index, Index, TokenIndex const&, Index, Index, std::int32_t const*,   \
                                   std::int32_t const*, Index, REAL const*, BlockScratchOf<REAL> const&, REAL*, REAL*, \
                                   REAL*);
#define BELLWETHER_EMBEDDING(SPACE)      \
  BELLWETHER_EMBEDDING_OF(SPACE, float)  \
  BELLWETHER_EMBEDDING_OF(SPACE, double) \
  BELLWETHER_EMBEDDING_FORWARD(SPACE, float, bf16)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_EMBEDDING)

}  // namespace bellwether::model
