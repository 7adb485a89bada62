// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/block_table.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

namespace {

bellwether::ParameterLayout layout_of(std::vector<std::int64_t> const& sizes) {
  bellwether::ParameterLayout layout;
  for (auto const size : sizes) layout.add({.name = std::to_string(layout.tensors().size()), .shape = {size}});
  return layout;
}

}  // namespace

TEST_CASE("blocks cover every element once and never straddle tensors") {
  auto const layout = layout_of({1, 0, 8, 9, 31, 0, 16});
  auto const blocks = bellwether::cut_into_blocks(layout, 8);
  bellwether::Index next = 0;
  for (auto const& block : blocks) {
    auto const& tensor = layout.tensors()[static_cast<std::size_t>(block.tensor)];
    CHECK(block.first == next);
    CHECK(block.count >= 1);
    CHECK(block.count <= 8);
    CHECK(block.first >= tensor.offset);
    CHECK(block.first + block.count <= tensor.offset + tensor.count);
    next += block.count;
  }
  CHECK(next == layout.count());
  CHECK(blocks.size() == 1 + 1 + 2 + 4 + 2);
}

TEST_CASE("a layout without elements has no blocks") {
  CHECK(bellwether::cut_into_blocks(layout_of({}), 8).empty());
  CHECK(bellwether::cut_into_blocks(layout_of({0, 0}), 8).empty());
}

TEMPLATE_LIST_TEST_CASE("the table lists the blocks of each tensor", "", bellwether::test::Spaces) {
  auto const layout = layout_of({5, 0, 8192, 4097});
  bellwether::BlockTable<TestType> const table(layout);
  CHECK(table.count() == 1 + 0 + 2 + 2);
  CHECK(table.tensors() == 4);
  auto const first = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), table.first_block());
  CHECK(first(0) == 0);
  CHECK(first(1) == 1);
  CHECK(first(2) == 1);
  CHECK(first(3) == 3);
  CHECK(first(4) == 5);
  CHECK(table.bytes() == 5 * 16 + 5 * 8);
}
