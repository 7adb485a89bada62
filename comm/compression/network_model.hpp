// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "core/index.hpp"

namespace bellwether::comm {

/// A network between nodes of L ranks each, as far as forecasts need to know it. A collective takes, after LogGP
/// (Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995),
///   latency + messages of a rank x overhead + the longer of
///     bytes that leave a node / bandwidth, bytes that a rank sends inside it / intra_node_bandwidth,
/// once for each of its rounds: links carry as much the other way at the same time, and a node's ranks share its link.
/// Nothing is said of switches that are too narrow for all nodes at once.
struct NetworkModel {
  int ranks_per_node = 1;           ///< L
  double bandwidth = 0;             ///< bytes a second of a node's link, each way
  double latency = 0;               ///< seconds on the way between nodes, beside a message's bytes
  double intra_node_bandwidth = 0;  ///< bytes a second that a rank sends to others of its node
  double intra_node_latency = 0;    ///< seconds between ranks of one node
  double overhead = 0;              ///< seconds that each message keeps its rank busy
};

/// All functions give seconds, for P ranks that fill nodes, or one node in part; 0 for one rank.

/// Every rank sends each other one a message of that many bytes, all at once.
double exchange_seconds(NetworkModel const& network, int ranks, double message_bytes);
/// A ring through all ranks, node by node: 2 (P-1) rounds of an P-th of the bytes, which is how a library reduces them.
double ring_seconds(NetworkModel const& network, int ranks, double bytes);
/// DenseMean of n floats.
double dense_mean_seconds(NetworkModel const& network, int ranks, Index count, Wire wire, Allreduce method);
/// HierarchicalAllreduce of n floats, as the deck's section has it.
double compressed_allreduce_seconds(NetworkModel const& network, int ranks, Index count, CommConfig const& comm);

}  // namespace bellwether::comm
