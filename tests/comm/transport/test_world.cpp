// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace bellwether;

TEST_CASE("the world knows its ranks and nodes") {
  auto const& world = test::world();
  CHECK(world.rank() == world.communicator().rank());
  CHECK(world.size() == world.communicator().size());
  auto const& nodes = world.nodes();
  CHECK(nodes.node_of.size() == static_cast<std::size_t>(world.size()));
  CHECK(nodes.hosts.size() == static_cast<std::size_t>(nodes.count));
  CHECK(nodes.node_of.at(static_cast<std::size_t>(world.rank())) == nodes.mine);
  CHECK(nodes.hosts.at(static_cast<std::size_t>(nodes.mine)) == world.host());
  CHECK(std::count(nodes.node_of.begin(), nodes.node_of.end(), nodes.mine) == nodes.ranks_here);
  CHECK(nodes.rank_here < nodes.ranks_here);
  CHECK_FALSE(world.library().empty());
  // Tests run on one machine.
  CHECK(nodes.count == 1);
  CHECK(nodes.equal);
}
