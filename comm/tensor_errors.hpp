// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/block_table.hpp"

#include <cstdint>

namespace bellwether::comm {

/// What a compressed mean leaves behind: at the worker z and its scales, at the server y of this rank's chunk and its
/// scales, and the signs of both. Points into the collective's memory, valid as long as Decoded.
struct LastMean {
  Index group_words = 1;                      ///< words that share a scale, counted from the vector's first
  std::uint32_t const* live = nullptr;        ///< (ceil(n / 32))
  std::uint32_t const* signs = nullptr;       ///< (ceil(n / 32)) of this rank's z
  std::uint32_t const* mean_signs = nullptr;  ///< (ceil(n / 32)) of the mean
  float const* z = nullptr;                   ///< (n)
  float const* scales = nullptr;              ///< (groups) S
  Index first = 0, mine = 0;                  ///< elements [first, first + mine) of this rank's chunk, in whole words
  Index first_group = 0;                      ///< group of its first word
  float const* y = nullptr;                   ///< (mine)
  float const* server_scales = nullptr;       ///< (parts of the chunk) R
};

/// What is summed of a tensor: |e|^2 and |z|^2 of the worker, |d|^2 and |y|^2 of the chunk's part in it, its live
/// elements, and those whose sign is that of the mean.
inline constexpr int tensor_error_sums = 6;
/// What is told of a tensor; see tensor_errors().
inline constexpr int tensor_error_numbers = 4;

/// One pass over z and y, 4 bytes an element and one word of each kind of signs for 32. partial: (tensor_error_sums
/// blocks), scratch. numbers: (tensor_error_numbers, tensors), written: |e|^2 / |z|^2 and the share of live elements
/// whose sign is that of the mean, both of this rank and NaN where there is nothing to divide by; |d|^2; |y|^2. Summed
/// in an order that depends on the layout and Space alone.
template <class Space>
void tensor_errors(Space const& exec, BlockTable<Space> const& table, Index count, LastMean const& mean,
                   Vec<double, Space> const& partial, Vec<float, Space> const& numbers);

}  // namespace bellwether::comm
