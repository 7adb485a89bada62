// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/config_visitor.hpp"

#include <string>
#include <string_view>

namespace bellwether::input {

/// A cluster that a run may move to, for forecasts: a YAML file of its own, read as strictly as a deck.
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

  void describe(ConfigVisitor& visit);  ///< sections network, nodes and ranks
};

/// Rank 0's part. \throws InputError naming the file where it cannot be read.
std::string read_cluster_text(std::string const& path);
/// \throws InputError with every fault, as parse_deck() tells them.
Cluster parse_cluster(std::string const& path, std::string_view text);

}  // namespace bellwether::input
