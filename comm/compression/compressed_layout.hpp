// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "core/index.hpp"

#include <cstdint>
#include <vector>

namespace bellwether::comm {

/// The signs of 32 neighbouring elements form one word, the first element in its most significant bit.
inline constexpr Index word_elements = 32;
/// Maximum number of words per block. Kernels sum within each block, then over blocks in order.
inline constexpr Index block_words = 128;

/// Neighbouring words of one chunk and one scale, and their position in a message.
struct WordBlock {
  Index word = 0;          ///< first word: of the vector for workers, of the chunk for servers
  Index place = 0;         ///< index of that word among the words of all messages
  Index scale_place = 0;   ///< index of the block's scale there
  std::int32_t words = 0;  ///< at most block_words
  std::int32_t scale = 0;  ///< worker: scale group; server: part of this rank's chunk
  std::int32_t order = 0;  ///< index of the block's sums; increases along the vector
};

/// Slot of a scale in a message; scale -1 marks an unused slot, which is 0.
struct ScaleSlot {
  Index place = 0;
  Index scale = -1;
};

/// Range of blocks, by `order`, whose sums determine one scale.
struct ScaleRange {
  Index first = 0;
  Index last = 0;
};

/// Partition of a vector for the compressed allreduce. Chunk j is words [j c, (j+1) c) with c = ceil(n / (32 P)) of the
/// W = ceil(n / 32) words. The last chunks may be short or empty. Scale group g is words [g w, (g+1) w), w = ceil(W /
/// G). A part is the intersection of a chunk and a group. Every message carries the scales of its chunk's parts in K
/// slots; unused slots are 0. Segment s is words [s h, (s+1) h) of every chunk. The messages of a segment to or from
/// all ranks are adjacent, and the segments follow each other. The scales of a chunk end its last segment.
struct CompressedLayout {
  CompressedLayout(Index count, int rank, int size, std::int64_t scale_groups, std::int64_t segment_bytes);
  /// Computes only the sizes, no blocks.
  CompressedLayout(Index count, int size, std::int64_t scale_groups);

  Index count = 0;        ///< n
  Index words = 0;        ///< W
  Index chunk_words = 0;  ///< c
  Index group_words = 1;  ///< w
  Index groups = 1;       ///< G
  Index slots = 0;        ///< K
  Index segment_words = 0;
  Index segments = 0;  ///< 0 for an empty vector
  Index first = 0;     ///< first element of this rank's chunk
  Index mine = 0;      ///< number of elements in this rank's chunk
  int size = 1;

  std::vector<WordBlock> worker_blocks;   ///< segment after segment
  std::vector<Index> worker_segments;     ///< (segments + 1) first block of each
  std::vector<ScaleRange> worker_ranges;  ///< (G)
  std::vector<ScaleSlot> worker_slots;    ///< (P K)
  std::vector<WordBlock> server_blocks;   ///< places refer to rank 0's message
  std::vector<Index> server_segments;     ///< (segments + 1)
  std::vector<ScaleRange> server_ranges;  ///< one per part of this rank's chunk
  std::vector<ScaleSlot> server_slots;    ///< (K) in this rank's own message

  Index message_words() const { return chunk_words + slots; }
  /// Returns the words of a chunk in segment s, including its scales: the stride between two ranks' messages.
  Index segment_stride(Index s) const;
  /// Returns the number of elements, over all chunks, whose signs segment s carries.
  Index segment_elements(Index s) const;
  /// Returns the index of segment s's first word among the messages of all ranks.
  Index segment_place(Index s) const { return size * s * segment_words; }

 private:
  void cut(int rank);
};

/// Partition of a vector among the L ranks of a node. Slice l is words [l s, (l+1) s), s = ceil(n / (32 L)); the last
/// slices may be short or empty. CompressedAllreduce averages a slice over Q nodes and splits it into chunks and scale
/// groups. A part is the intersection of a chunk and a group and has one magnitude. Inside the node, the message of a
/// slice holds the signs of its words, then the magnitudes of its parts.
struct NodeLayout {
  NodeLayout(Index count, int ranks, int nodes, std::int64_t scale_groups);

  Index first(int slice) const;  ///< first element of the slice
  Index elements(int slice) const { return first(slice + 1) - first(slice); }
  Index words(int slice) const { return (elements(slice) + word_elements - 1) / word_elements; }
  /// Returns the first word of every part of a slice, relative to the slice.
  std::vector<Index> parts(int slice) const;
  Index message_words(int slice) const;
  /// Returns the blocks of the whole vector in order; places index the concatenated messages of all slices.
  std::vector<WordBlock> blocks() const;

  Index count;  ///< n
  int ranks;    ///< L
  int nodes;    ///< Q
  std::int64_t scale_groups;
  Index slice_words;  ///< s
};

}  // namespace bellwether::comm
