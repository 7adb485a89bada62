// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/deck/cluster.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using Faults = std::vector<std::string>;

namespace {

Faults faults_of(std::string const& text) {
  try {
    input::parse_cluster("c.yaml", text);
  } catch (InputError const& error) {
    return error.faults();
  }
  return {};
}

}  // namespace

TEST_CASE("A cluster file sets values that differ from the defaults") {
  auto const cluster = input::parse_cluster("c.yaml", "network: {bandwidth: 4.1}\nnodes: {ranks: 4}\n");
  CHECK(cluster.network_bandwidth == 4.1);
  CHECK(cluster.network_latency == 20);
  CHECK(cluster.ranks_per_node == 4);
  CHECK(cluster.most_ranks == 4096);
  CHECK_FALSE(cluster.compute.has_value());
  CHECK_FALSE(cluster.memory.has_value());
  auto const whole = input::parse_cluster(
      "c.yaml",
      "network:\n  bandwidth: 100\n  latency: 2\n  overhead: 0.5\nnodes:\n  ranks: 8\n  bandwidth: 2400\n  latency: 3\n"
      "ranks:\n  most: 64\n  compute: 4e5\n  memory: 3000\n");
  CHECK(whole.network_latency == 2);
  CHECK(whole.overhead == 0.5);
  CHECK(whole.node_bandwidth == 2400);
  CHECK(whole.node_latency == 3);
  CHECK(whole.most_ranks == 64);
  CHECK(whole.compute == 4e5);
  CHECK(whole.memory == 3000);
}

TEST_CASE("All faults of a cluster file are reported with their places") {
  CHECK(faults_of("network:\n  bandwidht: 4\n  latency: -1\nnodes:\n  ranks: 5000\nrank:\n  most: 3\n") ==
        Faults{
            "c.yaml:1:1: network.bandwidth: missing; allowed: a number greater than 0 and at most 1000000000 (Gbit/s)",
            "c.yaml:2:3: network.bandwidht: unknown key (did you mean 'bandwidth'?); one of bandwidth, latency, "
            "overhead",
            "c.yaml:3:12: network.latency: '-1' is out of range; allowed: a number from 0 to 1000000000 (microseconds)",
            "c.yaml:5:10: nodes.ranks: '5000' is out of range; allowed: a whole number from 1 to 4096",
            "c.yaml:6:1: rank: unknown key (did you mean 'ranks'?); one of network, nodes, ranks"});
  CHECK(faults_of("network: {bandwidth: 1}\nnodes: {ranks: 8}\nranks:\n  most: 4\n") ==
        Faults{"c.yaml:4:9: ranks.most: 4 is below nodes.ranks, 8; at least nodes.ranks"});
  CHECK(faults_of("network: {bandwidth: 0}\nnodes: {ranks: 8}\n").size() == 1);
  CHECK(faults_of("3\n").back() == "c.yaml:1:1: not a map of sections; allowed: network, nodes, ranks");
  CHECK(faults_of("network: [\n").size() == 1);
  CHECK(faults_of("").size() == 2);  // two keys have no default
}

TEST_CASE("A cluster file that cannot be read is named in the error") {
  try {
    input::read_cluster_text("/nowhere/c.yaml");
    FAIL("read what is not there");
  } catch (InputError const& error) {
    CHECK(std::string(error.what()) ==
          "/nowhere/c.yaml: cannot be read (No such file or directory); a cluster is a YAML file");
  }
}
