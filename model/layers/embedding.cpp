// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/embedding.hpp"

#include "model/layers/embedding_body.hpp"

namespace bellwether::model {

template <class Real, class Stored, class Space>
void embedding_forward(Space const& exec, EmbeddingForward<Real, Stored> const& p) {
  for_each_row("bellwether::model::embedding_forward", exec, p.T, p.C,
               EmbedRow<Real, Stored>{p.C, p.ids, p.positions, p.segments, p.word, p.position, p.segment, p.sum});
}

template <class Real, class Space>
void embedding_backward(Space const& exec, EmbeddingBackward<Real> const& p, BlockScratchOf<Real> const& scratch) {
  for_each_row("bellwether::model::word_embedding_backward", exec, p.tokens.entries, p.C,
               WordBackward<Real>{p.C, p.tokens, p.dsum, p.dword});
  for_each_row("bellwether::model::position_embedding_backward", exec, p.longest, p.C,
               PositionBackward<Real>{p.C, p.sequences, p.sequence_offsets, p.dsum, p.dposition});
  scratch.sum(exec, row_blocks(p.T), {p.segment_rows * p.C, {p.dsegment}}, [&](Real* partial) {
    for_each_row("bellwether::model::segment_embedding_backward", exec, row_blocks(p.T), p.C,
                 SegmentBlockBackward<Real>{p.T, p.C, p.segment_rows, p.segments, p.dsum, partial});
  });
}

#define BELLWETHER_EMBEDDING_FORWARD(SPACE, REAL, STORED) \
  template void embedding_forward(SPACE const&, EmbeddingForward<REAL, STORED> const&);
#define BELLWETHER_EMBEDDING_OF(SPACE, REAL)      \
  BELLWETHER_EMBEDDING_FORWARD(SPACE, REAL, REAL) \
  template void embedding_backward(SPACE const&, EmbeddingBackward<REAL> const&, BlockScratchOf<REAL> const&);
#define BELLWETHER_EMBEDDING(SPACE)      \
  BELLWETHER_EMBEDDING_OF(SPACE, float)  \
  BELLWETHER_EMBEDDING_OF(SPACE, double) \
  BELLWETHER_EMBEDDING_FORWARD(SPACE, float, bf16)
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_EMBEDDING)

}  // namespace bellwether::model
