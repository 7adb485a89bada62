// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config_visitor.hpp"

#include <string>
#include <string_view>

namespace bellwether::input {

/// The cluster that a forecast is made for (`check --cluster`). It is read from a YAML file with the same strict rules
/// as a deck.
struct Cluster {
  double network_bandwidth = 0;
  double network_latency = 20;
  double overhead = 1;
  std::int64_t ranks_per_node = 1;
  double node_bandwidth = 100;
  double node_latency = 1;
  std::int64_t most_ranks = 4096;
  std::optional<double> compute;
  std::optional<double> memory;

  void describe(ConfigVisitor& visit);  ///< visits the sections network, nodes and ranks
};

/// Reads the file on rank 0. \throws InputError naming the file if it cannot be read.
std::string read_cluster_text(std::string const& path);
/// Parses the text of a cluster file. \throws InputError with every fault, in the format of parse_deck().
Cluster parse_cluster(std::string const& path, std::string_view text);

}  // namespace bellwether::input
