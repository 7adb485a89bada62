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

/// sum = word(id) + position(p) + segment(s). word: (V, C), position: (positions, C), segment: (segments, C); sum: (T,
/// C).
template <class Real, class Stored, class Space>
void embedding_forward(Space const& exec, Index T, Index C, std::int32_t const* ids, std::int32_t const* positions,
                       std::int32_t const* segments, Real const* word, Real const* position, Real const* segment,
                       Stored* sum);

/// Adds the rows of dsum to the gradients of the three tables. sequence_offsets: (sequences + 1); scratch:
/// (row_blocks(T), segment_rows, C), for segments.
template <class Real, class Space>
void embedding_backward(Space const& exec, Index T, Index C, TokenIndex const& tokens, Index sequences, Index longest,
                        std::int32_t const* sequence_offsets, std::int32_t const* segments, Index segment_rows,
                        Real const* dsum, BlockScratchOf<Real> const& scratch, Real* dword, Real* dposition,
                        Real* dsegment);

}  // namespace bellwether::model
