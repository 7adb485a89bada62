// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "core/index.hpp"

#include <cstdint>
#include <vector>

namespace bellwether::comm {

/// Signs of 32 neighbouring elements travel as one word, the first element in its most significant bit.
inline constexpr Index word_elements = 32;
/// Words a block at most: sums are formed by block, then over blocks in their order.
inline constexpr Index block_words = 128;

/// Neighbouring words of one chunk and one scale, and where they stand in a message.
struct WordBlock {
  Index word = 0;          ///< the first: of the vector for workers, of the chunk for servers
  Index place = 0;         ///< of that word among the words of all messages
  Index scale_place = 0;   ///< of the block's scale there
  std::int32_t words = 0;  ///< at most block_words
  std::int32_t scale = 0;  ///< worker: scale group; server: part of this rank's chunk
  std::int32_t order = 0;  ///< position of the block's sums; counts along the vector
};

/// A scale in a message; scale -1: the slot is unused and 0.
struct ScaleSlot {
  Index place = 0;
  Index scale = -1;
};

/// The blocks whose sums make one scale, by their order.
struct ScaleRange {
  Index first = 0;
  Index last = 0;
};

/// How a vector is cut for the compressed mean. Chunk j is words [j c, (j+1) c) with c = ceil(n / (32 P)) of the
/// W = ceil(n / 32) words; the last chunks may be short or empty. Scale group g is words [g w, (g+1) w),
/// w = ceil(W / G). A part is what a chunk and a group share; every message carries the scales of its chunk's parts, K
/// of them, filled up with zeros. Segment s is words [s h, (s+1) h) of every chunk; its messages to or from all ranks
/// are adjacent, segment after segment, and the scales stand at the end of a chunk's last one.
struct CompressedLayout {
  CompressedLayout(Index count, int rank, int size, std::int64_t scale_groups, std::int64_t segment_bytes);
  /// The sizes alone, for whom no block is cut.
  CompressedLayout(Index count, int size, std::int64_t scale_groups);

  Index count = 0;        ///< n
  Index words = 0;        ///< W
  Index chunk_words = 0;  ///< c
  Index group_words = 1;  ///< w
  Index groups = 1;       ///< G
  Index slots = 0;        ///< K
  Index segment_words = 0;
  Index segments = 0;  ///< none for an empty vector
  Index first = 0;     ///< first element of this rank's chunk
  Index mine = 0;      ///< its elements
  int size = 1;

  std::vector<WordBlock> worker_blocks;   ///< segment after segment
  std::vector<Index> worker_segments;     ///< (segments + 1) first block of each
  std::vector<ScaleRange> worker_ranges;  ///< (G)
  std::vector<ScaleSlot> worker_slots;    ///< (P K)
  std::vector<WordBlock> server_blocks;   ///< places are those of rank 0's message
  std::vector<Index> server_segments;     ///< (segments + 1)
  std::vector<ScaleRange> server_ranges;  ///< one a part of this rank's chunk
  std::vector<ScaleSlot> server_slots;    ///< (K) in this rank's own message

  Index message_words() const { return chunk_words + slots; }
  /// Words of a chunk in segment s with the scales it carries: distance of two ranks' messages.
  Index segment_stride(Index s) const;
  /// Elements whose signs segment s carries, of all chunks.
  Index segment_elements(Index s) const;
  /// Where the messages of segment s begin among those of all ranks.
  Index segment_place(Index s) const { return size * s * segment_words; }

 private:
  void cut(int rank);
};

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
