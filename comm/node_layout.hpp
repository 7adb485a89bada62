// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compressed_layout.hpp"

#include <vector>

namespace bellwether::comm {

/// How a vector is cut among the L ranks of a node. Slice l is words [l s, (l+1) s), s = ceil(n / (32 L)); the last
/// ones may be short or empty. A slice is exchanged over Q nodes by CompressedAllreduce, which cuts it into chunks and
/// scale groups; what a chunk and a group share, a part, has one magnitude. Inside the node, the message of a slice is
/// the signs of its words, then the magnitudes of its parts.
struct NodeLayout {
  NodeLayout(Index count, int ranks, int nodes, std::int64_t scale_groups);

  Index first(int slice) const;  ///< element
  Index elements(int slice) const { return first(slice + 1) - first(slice); }
  Index words(int slice) const { return (elements(slice) + word_elements - 1) / word_elements; }
  /// First word of every part of a slice, counted inside it.
  std::vector<Index> parts(int slice) const;
  Index message_words(int slice) const;
  /// Of the whole vector, in order: places among the messages of all slices, one after another.
  std::vector<WordBlock> blocks() const;

  Index count;  ///< n
  int ranks;    ///< L
  int nodes;    ///< Q
  std::int64_t scale_groups;
  Index slice_words;  ///< s
};

}  // namespace bellwether::comm
