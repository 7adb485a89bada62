// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/compressed_layout.hpp"

#include "core/system/error.hpp"

#include <algorithm>

namespace bellwether::comm {
namespace {

Index quotient_up(Index dividend, Index divisor) { return (dividend + divisor - 1) / divisor; }

/// Returns the maximum number of groups that a chunk overlaps, at least 1.
Index scale_slots(Index words, Index chunk_words, Index group_words) {
  Index slots = 1;
  for (Index first = 0; first < words; first += chunk_words) {
    Index const last = std::min(first + chunk_words, words) - 1;
    slots = std::max(slots, last / group_words - first / group_words + 1);
  }
  return slots;
}

}  // namespace

CompressedLayout::CompressedLayout(Index elements, int ranks, std::int64_t scale_groups)
    : count(elements), words(quotient_up(elements, word_elements)), groups(scale_groups), size(ranks) {
  require(elements >= 0 && ranks >= 1 && scale_groups >= 1,
          "compressed mean: invalid number of elements, ranks or scale groups");
  if (count == 0) return;
  chunk_words = quotient_up(words, ranks);
  group_words = quotient_up(words, groups);
  slots = scale_slots(words, chunk_words, group_words);
}

CompressedLayout::CompressedLayout(Index elements, int rank, int ranks, std::int64_t scale_groups,
                                   std::int64_t segment_bytes)
    : CompressedLayout(elements, ranks, scale_groups) {
  require(segment_bytes >= 1, "segment_bytes must be at least 1");
  worker_ranges.resize(static_cast<std::size_t>(groups));
  worker_segments.assign(1, 0);
  server_segments.assign(1, 0);
  if (count == 0) return;
  // Segments are whole blocks, so that segmentation does not change the order of sums.
  Index const wanted = quotient_up(std::min(segment_bytes, 4 * chunk_words), 4);
  segment_words = quotient_up(wanted, block_words) * block_words;
  segments = quotient_up(chunk_words, segment_words);
  first = std::min(rank * chunk_words * word_elements, count);
  mine = std::min((rank + 1) * chunk_words * word_elements, count) - first;
  cut(rank);
}

Index CompressedLayout::segment_elements(Index s) const {
  Index elements = 0;
  for (Index chunk = 0; chunk < size; ++chunk) {
    Index const begin = chunk * chunk_words + s * segment_words;
    Index const end = std::min(begin + segment_words, (chunk + 1) * chunk_words);
    elements += std::clamp(end * word_elements, Index{0}, count) - std::clamp(begin * word_elements, Index{0}, count);
  }
  return elements;
}

Index CompressedLayout::segment_stride(Index s) const {
  return s + 1 < segments ? segment_words : chunk_words - s * segment_words + slots;
}

void CompressedLayout::cut(int rank) {
  Index const last_segment = segments - 1;
  Index const last_words = chunk_words - last_segment * segment_words;
  std::int32_t order = 0;
  for (Index chunk = 0; chunk < size; ++chunk) {
    Index const begin = std::min(chunk * chunk_words, words);
    Index const end = std::min(begin + chunk_words, words);
    Index const scales = segment_place(last_segment) + chunk * segment_stride(last_segment) + last_words;
    Index const first_group = begin / group_words;
    for (Index slot = 0; slot < slots; ++slot) {
      bool const used = begin < end && first_group + slot <= (end - 1) / group_words;
      worker_slots.push_back({scales + slot, used ? first_group + slot : -1});
      if (chunk != rank) continue;
      server_slots.push_back({chunk_words + slot, used ? slot : -1});
      if (used) server_ranges.emplace_back();
    }
    std::int32_t const first_order = order;
    for (Index word = begin; word < end;) {
      Index const inside = word - begin;
      Index const segment = inside / segment_words;
      Index const group = word / group_words;
      Index const next = std::min({begin + (inside / block_words + 1) * block_words, (group + 1) * group_words, end});
      Index const offset = segment_place(segment) + inside - segment * segment_words;
      WordBlock block;
      block.word = word;
      block.place = offset + chunk * segment_stride(segment);
      block.scale_place = scales + group - first_group;
      block.words = static_cast<std::int32_t>(next - word);
      block.scale = static_cast<std::int32_t>(group);
      block.order = order;
      auto const extend = [](ScaleRange& range, Index at) { range = {range.last > 0 ? range.first : at, at + 1}; };
      extend(worker_ranges[static_cast<std::size_t>(group)], order);
      worker_blocks.push_back(block);
      if (chunk == rank) {
        block.word = inside;
        block.place = offset;
        block.scale_place -= chunk * segment_stride(last_segment);
        block.scale = static_cast<std::int32_t>(group - first_group);
        block.order = order - first_order;
        extend(server_ranges[static_cast<std::size_t>(block.scale)], block.order);
        server_blocks.push_back(block);
      }
      ++order;
      word = next;
    }
  }
  auto const by_segment = [&](std::vector<WordBlock>& blocks, std::vector<Index>& firsts) {
    // The scales at the end can make the last segment longer than segment_words; hence the minimum.
    auto const segment_of = [&](WordBlock const& block) {
      return std::min(block.place / (size * segment_words), last_segment);
    };
    std::stable_sort(blocks.begin(), blocks.end(),
                     [&](WordBlock const& a, WordBlock const& b) { return segment_of(a) < segment_of(b); });
    for (Index s = 0; s < segments; ++s)
      firsts.push_back(std::partition_point(blocks.begin(), blocks.end(),
                                            [&](WordBlock const& block) { return segment_of(block) <= s; }) -
                       blocks.begin());
  };
  by_segment(worker_blocks, worker_segments);
  by_segment(server_blocks, server_segments);
}

NodeLayout::NodeLayout(Index elements, int ranks_of_node, int number_of_nodes, std::int64_t groups)
    : count(elements), ranks(ranks_of_node), nodes(number_of_nodes), scale_groups(groups) {
  require(count >= 0 && ranks >= 1 && nodes >= 1 && scale_groups >= 1,
          "invalid number of elements, ranks, nodes or scale groups");
  slice_words = quotient_up(quotient_up(count, word_elements), ranks);
}

Index NodeLayout::first(int slice) const { return std::min(slice * slice_words * word_elements, count); }

std::vector<Index> NodeLayout::parts(int slice) const {
  CompressedLayout const cut(elements(slice), nodes, scale_groups);
  std::vector<Index> firsts;
  for (Index word = 0; word < cut.words;) {
    firsts.push_back(word);
    word = std::min((word / cut.chunk_words + 1) * cut.chunk_words, (word / cut.group_words + 1) * cut.group_words);
  }
  return firsts;
}

Index NodeLayout::message_words(int slice) const { return words(slice) + static_cast<Index>(parts(slice).size()); }

std::vector<WordBlock> NodeLayout::blocks() const {
  std::vector<WordBlock> all;
  Index place = 0;
  for (int slice = 0; slice < ranks; ++slice) {
    Index const before = first(slice) / word_elements;
    auto const firsts = parts(slice);
    for (std::size_t part = 0; part < firsts.size(); ++part) {
      Index const end = part + 1 < firsts.size() ? firsts[part + 1] : words(slice);
      for (Index word = firsts[part]; word < end; word += block_words) {
        WordBlock block;
        block.word = before + word;
        block.place = place + word;
        block.scale_place = place + words(slice) + static_cast<Index>(part);
        block.words = static_cast<std::int32_t>(std::min(end - word, block_words));
        all.push_back(block);
      }
    }
    place += message_words(slice);
  }
  return all;
}

}  // namespace bellwether::comm
