// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/estimate/build_report.hpp"
#include "app/estimate/forecast.hpp"
#include "input/deck/cluster.hpp"
#include "input/deck/deck.hpp"

#include <string>

namespace bellwether::comm {
class RankGroup;
class World;
}  // namespace bellwether::comm

namespace bellwether::app {

/// Collective. Rank 0 reads the file; all ranks return its contents. \throws CommonError if the file is invalid.
input::Cluster read_shared_cluster(comm::RankGroup& group, std::string const& path);

NetworkModel network_of(input::Cluster const& cluster);

/// Collective. Returns the work of the deck on a rank of the cluster. Measures the speeds that the file omits, with all
/// ranks at once, and uses the slowest rank's. report: of the same deck on this machine.
Workload workload_of(comm::World& world, input::Cluster const& cluster, input::Deck const& deck,
                     BuildReport const& report);

/// Formats the forecasts as a page of text. name: of the cluster file.
std::string cluster_text(std::string const& name, input::Cluster const& cluster, Workload const& work);

}  // namespace bellwether::app
