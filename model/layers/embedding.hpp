// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"
#include "model/layers/rows.hpp"

namespace bellwether::model {

/// The rows of T that use each vocabulary entry. The gradient of the word embedding is summed by entry, in row order,
/// without atomics. Entry u = ids(u) is used by rows order[starts(u) .. starts(u + 1)).
struct TokenIndex {
  Index entries;               ///< distinct ids in the batch
  std::int32_t const* ids;     ///< (entries)
  std::int32_t const* starts;  ///< (entries + 1)
  std::int32_t const* order;   ///< (T)
};

/// Arguments of embedding_forward().
template <class Real, class Stored>
struct EmbeddingForward {
  Index T, C;                     ///< tokens, channels
  std::int32_t const* ids;        ///< (T) rows of the word table
  std::int32_t const* positions;  ///< (T) rows of the position table
  std::int32_t const* segments;   ///< (T) rows of the segment table
  Real const* word;               ///< (V, C)
  Real const* position;           ///< (positions, C)
  Real const* segment;            ///< (segments, C)
  Stored* sum;                    ///< (T, C), written
};

/// Arguments of embedding_backward().
template <class Real>
struct EmbeddingBackward {
  Index T, C;                            ///< tokens, channels
  TokenIndex tokens;                     ///< of the batch
  Index sequences;                       ///< in the batch
  Index longest;                         ///< tokens of the longest sequence
  std::int32_t const* sequence_offsets;  ///< (sequences + 1) first token of each
  std::int32_t const* segments;          ///< (T) rows of the segment table
  Index segment_rows;                    ///< rows of the segment table
  Real const* dsum;                      ///< (T, C)
  Real* dword;                           ///< (V, C), updated
  Real* dposition;                       ///< (positions, C), updated
  Real* dsegment;                        ///< (segment_rows, C), updated
};

/// sum = word(id) + position(p) + segment(s).
template <class Real, class Stored, class Space>
void embedding_forward(Space const& exec, EmbeddingForward<Real, Stored> const& p);

/// Adds the rows of dsum to the gradients of the three tables. scratch: (row_blocks(T), segment_rows, C), for segments.
template <class Real, class Space>
void embedding_backward(Space const& exec, EmbeddingBackward<Real> const& p, BlockScratchOf<Real> const& scratch);

}  // namespace bellwether::model
