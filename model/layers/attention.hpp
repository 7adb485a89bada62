// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "model/layers/dropout.hpp"

namespace bellwether::model {

/// Scaled dot-product attention inside each sequence (Vaswani et al., arXiv 1706.03762, section 3.2), padding removed:
/// context = dropout(softmax(Q K^T / sqrt(D))) V for every head. Probabilities are not kept; backward forms them again.
template <class Real, class Stored = Real>
struct Attention {
  Index sequences, C, heads;
  Index longest;                         ///< longest sequence that scratch holds, S
  std::int32_t const* sequence_offsets;  ///< (sequences + 1), in host-accessible memory on host spaces
  Stored const* qkv;                     ///< (T, 3 C): Q, K, V, each (T, H, D)
  Dropout dropout{};                     ///< a row is a query; its channel is head * position_stride + key position
  std::int64_t const* samples;           ///< (sequences)
  Index position_stride;                 ///< channels a head takes in dropout's counters: the same for every batch
  Real* scratch;                         ///< as many as attention_scratch() says
  Stored const* context = nullptr;       ///< (T, C) what forward has made, for backward
  Real* logarithms = nullptr;  ///< as many as attention_keeps() says, from forward to backward; null: no backward
};

/// Numbers of scratch that attention needs for that many sequences.
template <class Real, class Stored, class Space>
Index attention_scratch(Space const& exec, Index sequences, Index C, Index heads, Index longest);
/// Numbers that forward keeps for backward, of that many tokens: none where backward forms them again.
template <class Real, class Stored, class Space>
Index attention_keeps(Space const& exec, Index T, Index C, Index heads);

/// context: (T, C).
template <class Real, class Stored, class Space>
void attention_forward(Space const& exec, Attention<Real, Stored> const& p, Stored* context);

/// dcontext: (T, C) -> dqkv: (T, 3 C).
template <class Real, class Stored, class Space>
void attention_backward(Space const& exec, Attention<Real, Stored> const& p, Stored const* dcontext, Stored* dqkv);

}  // namespace bellwether::model

/// The instances for a space: at the end of the one source that defines them there.
#define BELLWETHER_ATTENTION_OF(SPACE, REAL, STORED)                                        \
  template Index attention_keeps<REAL, STORED>(SPACE const&, Index, Index, Index);          \
  template Index attention_scratch<REAL, STORED>(SPACE const&, Index, Index, Index, Index); \
  template void attention_forward(SPACE const&, Attention<REAL, STORED> const&, STORED*);   \
  template void attention_backward(SPACE const&, Attention<REAL, STORED> const&, STORED const*, STORED*);
#define BELLWETHER_ATTENTION(SPACE)              \
  BELLWETHER_ATTENTION_OF(SPACE, float, float)   \
  BELLWETHER_ATTENTION_OF(SPACE, double, double) \
  BELLWETHER_ATTENTION_OF(SPACE, float, bf16)
