// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/compressed_layout.hpp"
#include "comm/transport/world.hpp"
#include "core/system/error.hpp"
#include "tests/comm/compression/node_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

using namespace bellwether;
using Catch::Matchers::StartsWith;

namespace {

/// Six ranks on three machines, assigned round-robin.
comm::Nodes dealt_in_turn(int rank) {
  return {.count = 3,
          .mine = rank % 3,
          .ranks_here = 2,
          .rank_here = rank / 3,
          .equal = true,
          .node_of = {0, 1, 2, 0, 1, 2},
          .hosts = {"a", "b", "c"}};
}

}  // namespace

TEST_CASE("by default the detected nodes are used") {
  auto const nodes = comm::chosen_nodes(dealt_in_turn(4), 4, {});
  CHECK(nodes.node_of == std::vector<int>{0, 1, 2, 0, 1, 2});
  CHECK(nodes.mine == 1);
  CHECK(nodes.rank_here == 1);
}

TEST_CASE("nodes of a given size hold consecutive ranks") {
  comm::CommConfig config;
  config.ranks_per_node = 2;
  auto nodes = comm::chosen_nodes(dealt_in_turn(5), 5, config);
  CHECK(nodes.count == 3);
  CHECK(nodes.mine == 2);
  CHECK(nodes.ranks_here == 2);
  CHECK(nodes.rank_here == 1);
  CHECK(nodes.equal);
  CHECK(nodes.node_of == std::vector<int>{0, 0, 1, 1, 2, 2});
  CHECK(nodes.hosts == std::vector<std::string>{"a", "c", "b"});
  config.ranks_per_node = 4;
  nodes = comm::chosen_nodes(dealt_in_turn(5), 5, config);
  CHECK(nodes.count == 2);
  CHECK(nodes.ranks_here == 2);
  CHECK(nodes.rank_here == 1);
  CHECK_FALSE(nodes.equal);
  config.ranks_per_node = 100;
  nodes = comm::chosen_nodes(dealt_in_turn(5), 5, config);
  CHECK(nodes.count == 1);
  CHECK(nodes.ranks_here == 6);
  CHECK(nodes.equal);
}

TEST_CASE("each rank joins its intra-node and its inter-node group") {
  for (int const here : test::divisors_of_world()) {
    test::NodesOf const nodes(here);
    CHECK(nodes.groups->intra_node().size() == here);
    CHECK(nodes.groups->intra_node().rank() == nodes.place());
    CHECK(nodes.groups->inter_node().size() == nodes.nodes);
    CHECK(nodes.groups->inter_node().rank() == nodes.node());
    for (int rank = 0; rank < nodes.all->size(); ++rank)
      CHECK(nodes.all->shares_node(rank) == (rank / here == nodes.node()));
    for (int place = 0; place < here; ++place) CHECK(nodes.groups->intra_node().shares_node(place));
    for (int node = 0; node < nodes.nodes; ++node)
      CHECK(nodes.groups->inter_node().shares_node(node) == (node == nodes.node()));
  }
}

TEST_CASE("nodes with different numbers of ranks are rejected on every rank") {
  auto& world = test::world().communicator();
  if (world.size() < 3) return;
  comm::CommConfig config;
  config.hierarchy = comm::Hierarchy::node;
  config.ranks_per_node = world.size() - 1;
  auto const nodes = comm::chosen_nodes(test::world().nodes(), world.rank(), config);
  auto const said = "; its nodes hold from 1 to " + std::to_string(world.size() - 1) + " ranks; allowed: ";
  CHECK_THROWS_WITH(comm::NodeGroups(world, nodes, config),
                    StartsWith("comm.ranks_per_node: " + std::to_string(world.size() - 1) + said));
  config.ranks_per_node.reset();
  CHECK_THROWS_AS(comm::NodeGroups(world, nodes, config), InputError);
  CHECK_THROWS_WITH(comm::NodeGroups(world, nodes, config), StartsWith("comm.hierarchy: node" + said));
}

TEST_CASE("intra-node bytes are counted for every collective") {
  auto const ranks = test::divisors_of_world();
  test::NodesOf const nodes(ranks[ranks.size() / 2]);
  auto& all = *nodes.all;
  std::int64_t const others = all.size() - 1, neighbours = nodes.here - 1;
  Exec const exec;
  Vec<float> const mine("bellwether::test::mine", 3),
      everyone("bellwether::test::all", static_cast<std::size_t>(3 * all.size()));
  auto const sent = [&](auto const& collective) {
    auto const before = all.traffic();
    collective();
    auto const after = all.traffic();
    return std::pair(after.sent_bytes - before.sent_bytes, after.intra_node_bytes - before.intra_node_bytes);
  };
  auto const wait = [&](comm::Request request) { all.wait(request); };
  auto const each = [&](std::int64_t bytes) { return std::pair(bytes * others, bytes * neighbours); };
  CHECK(sent([&] {
          wait(all.start_allgather(exec, comm::bytes(mine.data(), 3), comm::bytes(everyone.data(), 3 * all.size()),
                                   "bellwether::test::allgather"));
        }) == each(12));
  Vec<float> const turned("bellwether::test::turned", everyone.extent(0));
  CHECK(sent([&] {
          wait(all.start_alltoall(exec, comm::bytes(everyone.data(), 3 * all.size()),
                                  comm::bytes(turned.data(), 3 * all.size()), "bellwether::test::alltoall"));
        }) == each(12));
  double value = 1;
  CHECK(sent([&] { all.sum_host({&value, 1}, "bellwether::test::sum"); }) == each(8));
  CHECK(sent([&] {
          all.broadcast_host(std::as_writable_bytes(std::span(&value, 1)), 0, "bellwether::test::broadcast");
        }) == (all.rank() == 0 ? each(8) : std::pair<std::int64_t, std::int64_t>(0, 0)));
}

TEST_CASE("the messages of slices cover the vector and its magnitudes") {
  for (Index const count : {Index{0}, Index{1}, Index{33}, Index{100}, Index{5000}, Index{40001}})
    for (int const ranks : {1, 2, 3, 5})
      for (int const nodes : {2, 3})
        for (std::int64_t const groups : {1, 4, 1000}) {
          comm::NodeLayout const layout(count, ranks, nodes, groups);
          CAPTURE(count, ranks, nodes, groups);
          CHECK(layout.first(0) == 0);
          CHECK(layout.first(ranks) == count);
          Index word = 0, messages = 0;
          for (int slice = 0; slice < ranks; ++slice) {
            CHECK((layout.first(slice) % 32 == 0 || layout.first(slice) == count));
            messages += layout.message_words(slice);
            if (layout.elements(slice) == 0) CHECK(layout.message_words(slice) == 0);
          }
          for (auto const& block : layout.blocks()) {
            REQUIRE(block.word == word);
            REQUIRE(block.words >= 1);
            REQUIRE(block.place + block.words <= block.scale_place);
            REQUIRE(block.scale_place < messages);
            word += block.words;
          }
          CHECK(word == (count + 31) / 32);
        }
}
