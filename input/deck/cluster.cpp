// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/deck/cluster.hpp"

#include "core/system/error.hpp"
#include "input/deck/deck_document.hpp"
#include "input/deck/deck_table.hpp"
#include "input/files/yaml_document.hpp"

namespace bellwether::input {

namespace {

constexpr double most = 1e9;

Field speed(std::string_view name, std::string_view help, std::string_view unit) {
  return {.name = name, .help = help, .unit = unit, .minimum = 0, .maximum = most, .minimum_allowed = false};
}

Field microseconds(std::string_view name, std::string_view help) {
  return {.name = name, .help = help, .unit = "microseconds", .minimum = 0, .maximum = most};
}

}  // namespace

void Cluster::describe(ConfigVisitor& visit) {
  visit.section("network", "the network between nodes", [&](ConfigVisitor& section) {
    auto bandwidth = speed("bandwidth", "bandwidth of a node's link in each direction", "Gbit/s");
    bandwidth.required = true;
    section.field(bandwidth, network_bandwidth);
    section.field(microseconds("latency", "time of a message between nodes, in addition to its bytes"),
                  network_latency);
    section.field(microseconds("overhead", "time that a rank is busy with each message, also inside a node"), overhead);
  });
  visit.section("nodes", "the nodes of the cluster, all equal", [&](ConfigVisitor& section) {
    section.field({.name = "ranks",
                   .help = "ranks per node; the deck's comm.ranks_per_node is ignored",
                   .minimum = 1,
                   .maximum = 4096,
                   .required = true},
                  ranks_per_node);
    section.field(speed("bandwidth", "bandwidth from a rank to the others of its node", "Gbit/s"), node_bandwidth);
    section.field(microseconds("latency", "latency between ranks of one node"), node_latency);
  });
  visit.section("ranks", "number and speed of the ranks", [&](ConfigVisitor& section) {
    section.field({.name = "most", .help = "largest number of ranks in a forecast", .minimum = 1, .maximum = 4096},
                  most_ranks);
    section.field(
        speed("compute",
              "speed of forward and backward passes; not set: measured on the machine that makes the forecast",
              "GFLOP/s"),
        compute);
    section.field(
        speed("memory",
              "memory bandwidth of the optimizer's kernels; not set: measured on the machine that makes the forecast",
              "GB/s"),
        memory);
  });
}

std::string read_cluster_text(std::string const& path) { return read_document(path, "a cluster").text; }

Cluster parse_cluster(std::string const& path, std::string_view text) {
  std::vector<SyntaxFault> syntax;
  TreeNode const root = parse_tree(text, syntax);
  std::vector<Fault> faults;
  for (auto const& fault : syntax) faults.push_back(document_fault(path, fault.place, fault.what));
  Cluster cluster;
  auto const describe = [&cluster](ConfigVisitor& visit) { cluster.describe(visit); };
  auto const keys = key_catalogue(describe);
  std::vector<Override> const no_overrides;  // the reader keeps a reference to it
  DeckReader reader(path, root, no_overrides, true, syntax.empty());
  describe(reader);
  reader.finish(keys);
  faults.insert(faults.end(), reader.faults().begin(), reader.faults().end());
  if (syntax.empty() && faults.empty() && cluster.most_ranks < cluster.ranks_per_node)
    faults.push_back(document_fault(
        path, reader.origins().contains("ranks.most") ? reader.origins().at("ranks.most").place : Place{1, 1},
        "ranks.most: " + std::to_string(cluster.most_ranks) + " is below nodes.ranks, " +
            std::to_string(cluster.ranks_per_node) + "; at least nodes.ranks"));
  throw_faults(std::move(faults));
  return cluster;
}

}  // namespace bellwether::input
