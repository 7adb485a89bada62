// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/node_layout.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace bellwether::comm {

NodeLayout::NodeLayout(Index elements, int ranks_of_node, int number_of_nodes, std::int64_t groups)
    : count(elements), ranks(ranks_of_node), nodes(number_of_nodes), scale_groups(groups) {
  require(count >= 0 && ranks >= 1 && nodes >= 1 && scale_groups >= 1, "a vector without nodes");
  Index const all = (count + word_elements - 1) / word_elements;
  slice_words = (all + ranks - 1) / ranks;
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
