// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"

namespace bellwether::comm {

/// Returns (sum over ranks i, in rank order, of chunks[i * count + k]) / ranks, summed in fp32.
template <class T>
KOKKOS_INLINE_FUNCTION float rank_order_mean(T const* chunks, Index count, int ranks, Index k) {
  float sum = chunks[k];
  for (int from = 1; from < ranks; ++from) sum += chunks[from * count + k];
  // A division, not a multiplication by 1/P: the mean of equal values then equals that value for P = 3, too.
  return sum / static_cast<float>(ranks);
}

/// mean[k] = rank_order_mean(chunks, count, ranks, k) for k < count, in the wire type T (float or bf16). chunks:
/// (ranks, count); mean: (count).
template <class T, class Space>
void mean_in_rank_order(Space const& exec, Index count, int ranks, T const* chunks, T* mean);

/// values[k] /= ranks for k < count.
template <class Space>
void divide_by_ranks(Space const& exec, Index count, int ranks, float* values);

}  // namespace bellwether::comm
