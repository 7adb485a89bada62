// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/bf16.hpp"
#include "core/types.hpp"

namespace bellwether::comm {

/// to[k] = from[k] in the wire type, k < count.
template <class Space>
void round_to_wire(Space const& exec, Index count, float const* from, bf16* to);
template <class Space>
void read_from_wire(Space const& exec, Index count, bf16 const* from, float* to);

/// mean[k] = (sum over ranks i, in their order, of chunks[i * count + k]) / ranks, summed in fp32.
/// chunks: (ranks, count); mean: (count). T: float or bf16.
template <class T, class Space>
void mean_in_rank_order(Space const& exec, Index count, int ranks, T const* chunks, T* mean);

/// values[k] /= ranks, k < count.
template <class Space>
void divide_by_ranks(Space const& exec, Index count, int ranks, float* values);

}  // namespace bellwether::comm
