// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/communicator.hpp"
#include "comm/transport/process_grid.hpp"
#include "comm/transport/transport.hpp"
#include "comm/transport/world.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

using namespace bellwether;
using Catch::Matchers::StartsWith;

TEST_CASE("with one stage, every rank is a replica") {
  auto& world = test::world();
  comm::ProcessGrid const grid({}, world);
  CHECK(grid.replicas() == world.size());
  CHECK(grid.replica_index() == world.rank());
  CHECK(grid.stages() == 1);
  CHECK(grid.stage_index() == 0);
  CHECK(grid.replicas() * grid.stages() == grid.world().size());
}

TEST_CASE("the groups of a grid agree with its coordinates") {
  auto& world = test::world();
  comm::ProcessGrid const grid({}, world);
  CHECK(grid.world().size() == world.size());
  CHECK(grid.world().rank() == world.rank());
  CHECK(grid.data().size() == grid.replicas());
  CHECK(grid.data().rank() == grid.replica_index());
  CHECK(grid.stage().size() == grid.stages());
  CHECK(grid.stage().rank() == grid.stage_index());
  CHECK(grid.node() == nullptr);

  double replicas = 1, stages = 1, indices = grid.replica_index();
  grid.data().sum_host({&replicas, 1}, "bellwether::test::replicas");
  grid.data().sum_host({&indices, 1}, "bellwether::test::indices");
  grid.stage().sum_host({&stages, 1}, "bellwether::test::stages");
  CHECK(replicas == grid.replicas());
  CHECK(indices == grid.replicas() * (grid.replicas() - 1) / 2.0);
  CHECK(stages == grid.stages());
}

TEST_CASE("a grid divides the data group into nodes if the deck selects a hierarchy") {
  auto& world = test::world();
  for (int here = 1; here <= world.size(); ++here) {
    CAPTURE(here);
    comm::CommConfig config;
    config.hierarchy = comm::Hierarchy::node;
    config.ranks_per_node = here;
    if (world.size() % here != 0) {
      CHECK_THROWS_WITH(comm::ProcessGrid(config, world), StartsWith("comm.ranks_per_node: " + std::to_string(here)));
      continue;
    }
    comm::ProcessGrid const grid(config, world);
    REQUIRE(grid.node() != nullptr);
    CHECK(grid.nodes().count == world.size() / here);
    CHECK(grid.node()->intra_node().size() == here);
    CHECK(grid.node()->intra_node().rank() == grid.replica_index() % here);
    CHECK(grid.node()->inter_node().size() == grid.nodes().count);
    CHECK(grid.node()->inter_node().rank() == grid.replica_index() / here);
    for (int rank = 0; rank < grid.replicas(); ++rank)
      CHECK(grid.data().shares_node(rank) == (rank / here == grid.replica_index() / here));
  }
  world.communicator().set_nodes(world.nodes().node_of);  // other tests expect the nodes of the machine
}

TEST_CASE("a grid names its transport and refuses one that is not offered") {
  auto& world = test::world();
  comm::CommConfig config;
  config.transport = comm::Transport::mpi_staged;
  comm::ProcessGrid const grid(config, world);
  CHECK_THAT(grid.transport(), StartsWith("mpi_staged: "));
  CHECK(&grid.data() != &world.communicator());
  CHECK(grid.data().size() == world.size());
  if (world.offer().on_devices) return;
  config.transport = comm::Transport::nccl;
  CHECK_THROWS_WITH(comm::ProcessGrid(config, world), StartsWith("comm.transport: "));
}
