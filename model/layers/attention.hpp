// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "model/layers/dropout.hpp"

namespace bellwether::model {

/// Scaled dot-product attention inside each sequence (Vaswani et al., arXiv 1706.03762, section 3.2), without padding:
/// context = dropout(softmax(Q K^T / sqrt(D))) V for every head. Probabilities are not stored; backward recomputes
/// them.
template <class Real, class Stored = Real>
struct Attention {
  Index sequences, C, heads;
  Index longest;                         ///< longest sequence that fits into scratch, S
  std::int32_t const* sequence_offsets;  ///< (sequences + 1), in host-accessible memory on host spaces
  Stored const* qkv;                     ///< (T, 3 C): Q, K, V, each (T, H, D)
  Dropout dropout{};                     ///< row: query; channel: head * position_stride + key position
  std::int64_t const* samples;           ///< (sequences)
  Index position_stride;                 ///< channels for each head in dropout's counters, equal for all batches
  Real* scratch;                         ///< size from attention_scratch()
  Stored const* context = nullptr;       ///< (T, C) forward's output, an input of backward
  Real* logarithms =
      nullptr;  ///< size from attention_keeps(), written by forward, read by backward; null: forward only
};

/// Returns the size of Attention::scratch, in elements, for this many sequences.
template <class Real, class Stored, class Space>
Index attention_scratch(Space const& exec, Index sequences, Index C, Index heads, Index longest);
/// Returns the size of Attention::logarithms, in elements, for T tokens; 0 where backward recomputes them.
template <class Real, class Stored, class Space>
Index attention_keeps(Space const& exec, Index T, Index C, Index heads);

/// Forward. context: (T, C).
template <class Real, class Stored, class Space>
void attention_forward(Space const& exec, Attention<Real, Stored> const& p, Stored* context);

/// Backward. dcontext: (T, C), input; dqkv: (T, 3 C), output.
template <class Real, class Stored, class Space>
void attention_backward(Space const& exec, Attention<Real, Stored> const& p, Stored const* dcontext, Stored* dqkv);

}  // namespace bellwether::model

/// Explicit instantiations for a space. Placed at the end of the source that defines the templates for it.
#define BELLWETHER_ATTENTION_OF(SPACE, REAL, STORED)                                        \
  template Index attention_keeps<REAL, STORED>(SPACE const&, Index, Index, Index);          \
  template Index attention_scratch<REAL, STORED>(SPACE const&, Index, Index, Index, Index); \
  template void attention_forward(SPACE const&, Attention<REAL, STORED> const&, STORED*);   \
  template void attention_backward(SPACE const&, Attention<REAL, STORED> const&, STORED const*, STORED*);
#define BELLWETHER_ATTENTION(SPACE)              \
  BELLWETHER_ATTENTION_OF(SPACE, float, float)   \
  BELLWETHER_ATTENTION_OF(SPACE, double, double) \
  BELLWETHER_ATTENTION_OF(SPACE, float, bf16)
