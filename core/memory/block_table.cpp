// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/block_table.hpp"

#include "core/system/error.hpp"

#include <algorithm>
#include <string>

namespace bellwether {
namespace {

template <class Space, class T>
Vec<T, Space> copied(std::vector<T> const& values, std::string const& label) {
  Vec<T, Space> result(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), values.size());
  Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const source(values.data(), values.size());
  Kokkos::deep_copy(result, source);
  return result;
}

}  // namespace

std::vector<Block> cut_into_blocks(ParameterLayout const& layout, Index longest) {
  require(longest >= 1 && longest <= (Index{1} << 30), "block length out of range");
  std::vector<Block> blocks;
  std::int32_t position = 0;
  for (auto const& tensor : layout.tensors()) {
    for (Index done = 0; done < tensor.count; done += longest)
      blocks.push_back(
          {tensor.offset + done, static_cast<std::int32_t>(std::min(longest, tensor.count - done)), position});
    ++position;
  }
  return blocks;
}

template <class Space>
BlockTable<Space>::BlockTable(ParameterLayout const& layout, Index longest) {
  auto const blocks = cut_into_blocks(layout, longest);
  std::vector<Index> first(layout.tensors().size() + 1, 0);
  for (auto const& block : blocks) ++first[static_cast<std::size_t>(block.tensor) + 1];
  for (std::size_t l = 1; l < first.size(); ++l) first[l] += first[l - 1];
  blocks_ = copied<Space>(blocks, "bellwether::core::blocks");
  first_block_ = copied<Space>(first, "bellwether::core::first_block");
}

template <class Space>
std::int64_t BlockTable<Space>::bytes() const {
  return static_cast<std::int64_t>(blocks_.extent(0) * sizeof(Block) + first_block_.extent(0) * sizeof(Index));
}

#define BELLWETHER_INSTANTIATE(Space) template class BlockTable<Space>;
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether
