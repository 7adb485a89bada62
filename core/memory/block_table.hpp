// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "core/simd/reduce.hpp"
#include "core/types.hpp"

#include <vector>

namespace bellwether {

/// Elements [first, first + count) of an arena, all from one tensor.
struct Block {
  Index first = 0;
  std::int32_t count = 0;
  std::int32_t tensor = 0;  ///< index in the layout
};

/// Splits every tensor into blocks of `longest` elements; the last one may be shorter. Blocks are in arena order; an
/// empty tensor has none. The result depends only on the layout, so blockwise sums do not depend on threads or ranks.
std::vector<Block> cut_into_blocks(ParameterLayout const& layout, Index longest = reduce_block);

/// The blocks in the memory of a space, for kernels that process a whole arena in one launch but sum per tensor.
template <class Space = Exec>
class BlockTable {
 public:
  explicit BlockTable(ParameterLayout const& layout, Index longest = reduce_block);

  Index count() const { return static_cast<Index>(blocks_.extent(0)); }
  Index tensors() const { return static_cast<Index>(first_block_.extent(0)) - 1; }
  Vec<Block, Space> const& blocks() const { return blocks_; }
  /// (tensors + 1): tensor l owns blocks [first_block(l), first_block(l + 1)).
  Vec<Index, Space> const& first_block() const { return first_block_; }
  std::int64_t bytes() const;

 private:
  Vec<Block, Space> blocks_;
  Vec<Index, Space> first_block_;
};

}  // namespace bellwether
