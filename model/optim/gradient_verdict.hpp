// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/block_table.hpp"

namespace bellwether::optim {

/// What the mean gradient of a step allows, formed where kernels read it. All ranks hold the same mean bit for bit and
/// sum it in the same order, so they agree without another reduction.
struct Verdict {
  double norm = 0;          ///< global norm before clipping; not finite where skip
  double clip_factor = 1;   ///< see clip_factor()
  double local_square = 0;  ///< mean over ranks of the squared norms of their own gradients; 0: not known
  Index bad_tensor = -1;    ///< first tensor with an element that is not finite
  Index bad_rank = -1;      ///< first rank with such a gradient, where it was judged before the exchange
  std::int32_t skip = 0;    ///< 1: some element is not finite, nothing may change
};

/// One pass over the gradient. gradient: (n); partial: (blocks), scratch; verdict: (1), written. Two launches, 4 bytes
/// an element. A square of a finite float is at most 1.2e77, so a sum of squares in double is finite exactly where all
/// elements are.
template <class Space>
void judge_gradient(Space const& exec, BlockTable<Space> const& table, float const* gradient, double clip,
                    Vec<double, Space> const& partial, Vec<Verdict, Space> const& verdict);

}  // namespace bellwether::optim
