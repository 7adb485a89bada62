// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "core/index.hpp"

namespace bellwether::app {

/// Model of a network between nodes of L ranks each, for predictions. After LogGP (Alexandrov, Ionescu, Schauser,
/// Scheiman, SPAA 1995). A round of a collective takes
///   latency + messages of a rank x overhead + the longer of two times.
/// One is bytes that leave a node / bandwidth, the other bytes that a rank sends intra-node / intra_node_bandwidth.
/// Links are full duplex, and the ranks of a node share its link. The model ignores switches that cannot carry all
/// nodes at full rate.
struct NetworkModel {
  int ranks_per_node = 1;           ///< L
  double bandwidth = 0;             ///< bytes per second of a node's link, each way
  double latency = 0;               ///< seconds to another node, without the time of the bytes
  double intra_node_bandwidth = 0;  ///< bytes per second that a rank sends to local ranks
  double intra_node_latency = 0;    ///< seconds between ranks of one node
  double overhead = 0;              ///< seconds that a rank is busy per message
};

/// The functions below return seconds for P ranks that fill whole nodes, or part of one node; 0 for one rank.
///
/// All-to-all: every rank sends one message of message_bytes to each other rank at once.
double exchange_seconds(NetworkModel const& network, int ranks, double message_bytes);
/// Ring allreduce of `bytes` through all ranks, node by node: 2 (P-1) rounds of bytes / P, as libraries do it.
double ring_seconds(NetworkModel const& network, int ranks, double bytes);
/// DenseMean of n floats.
double dense_mean_seconds(NetworkModel const& network, int ranks, Index count, comm::Wire wire, comm::Allreduce method);
/// HierarchicalAllreduce of n floats with the settings of deck section `comm`.
double compressed_allreduce_seconds(NetworkModel const& network, int ranks, Index count, comm::CommConfig const& comm);

}  // namespace bellwether::app
