// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/network_model.hpp"

#include "comm/compression/compressed_layout.hpp"
#include "core/system/error.hpp"

#include <algorithm>

namespace bellwether::app {
namespace {

/// Returns the time of one round. messages: sent per rank; leaving: inter-node bytes of its node; inside: intra-node
/// bytes of the rank. between: the round crosses nodes.
double round_seconds(NetworkModel const& network, bool between, double messages, double leaving, double inside) {
  double const transport = std::max(between ? leaving / network.bandwidth : 0, inside / network.intra_node_bandwidth);
  return (between ? network.latency : network.intra_node_latency) + messages * network.overhead + transport;
}

/// All-to-all among the ranks of one node.
double node_seconds(NetworkModel const& network, int ranks, double message_bytes) {
  if (ranks == 1) return 0;
  return round_seconds(network, false, ranks - 1, 0, (ranks - 1) * message_bytes);
}

int nodes_of(NetworkModel const& network, int ranks) {
  int const in_node = network.ranks_per_node;
  require(ranks >= 1 && in_node >= 1 && (ranks <= in_node || ranks % in_node == 0),
          "the ranks do not fill whole nodes");
  return ranks <= in_node ? 1 : ranks / in_node;
}

double elements_a_part(Index count, int parts) { return static_cast<double>((count + parts - 1) / parts); }

}  // namespace

double exchange_seconds(NetworkModel const& network, int ranks, double message_bytes) {
  int const nodes = nodes_of(network, ranks), in_node = ranks / nodes;
  if (nodes == 1) return node_seconds(network, ranks, message_bytes);
  double const leaving = static_cast<double>(in_node) * (ranks - in_node) * message_bytes;
  return round_seconds(network, true, ranks - 1, leaving, (in_node - 1) * message_bytes);
}

double ring_seconds(NetworkModel const& network, int ranks, double bytes) {
  if (ranks == 1) return 0;
  // A rank has one successor. Each node sends one part per round, to the next node if there is one.
  bool const between = nodes_of(network, ranks) > 1;
  double const part = bytes / ranks, inside = network.ranks_per_node > 1 ? part : 0;
  return 2 * (ranks - 1) * round_seconds(network, between, 1, part, inside);
}

double dense_mean_seconds(NetworkModel const& network, int ranks, Index count, comm::Wire wire,
                          comm::Allreduce method) {
  if (ranks == 1) return 0;
  if (method == comm::Allreduce::library)
    return ring_seconds(network, ranks, comm::bytes_of(comm::Wire::fp32) * static_cast<double>(count));
  return 2 * exchange_seconds(network, ranks, comm::bytes_of(wire) * elements_a_part(count, ranks));
}

double compressed_allreduce_seconds(NetworkModel const& network, int ranks, Index count, comm::CommConfig const& comm) {
  if (ranks == 1) return 0;
  int const nodes = nodes_of(network, ranks), in_node = ranks / nodes;
  auto const word_bytes = [](Index words) { return 4 * static_cast<double>(words); };
  if (comm.hierarchy == comm::Hierarchy::none || in_node == 1)
    return 2 *
           exchange_seconds(network, ranks,
                            word_bytes(comm::CompressedLayout(count, ranks, comm.groups_of(count, 1)).message_words()));
  auto const groups = comm.groups_of(count, in_node);
  comm::NodeLayout const slices(count, in_node, nodes, groups);
  Index const slice = slices.elements(0);
  double const scattered = node_seconds(network, in_node, comm::bytes_of(comm.dense_wire) * static_cast<double>(slice));
  if (nodes == 1)
    return scattered + node_seconds(network, in_node, comm::bytes_of(comm::Wire::fp32) * static_cast<double>(slice));
  // Each local rank exchanges its slice with one rank on every other node: one message per node, as with one rank per
  // node.
  double const message = word_bytes(comm::CompressedLayout(slice, nodes, groups).message_words());
  double const between = round_seconds(network, true, nodes - 1, in_node * (nodes - 1) * message, 0);
  return scattered + 2 * between + node_seconds(network, in_node, word_bytes(slices.message_words(0)));
}

}  // namespace bellwether::app
