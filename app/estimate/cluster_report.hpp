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

/// Collective. Rank 0 reads the file, all ranks get the same. \throws CommonError.
input::Cluster read_shared_cluster(comm::RankGroup& group, std::string const& path);

comm::NetworkModel network_of(input::Cluster const& cluster);

/// Collective. What the deck asks of a rank of the cluster, `report` being what it builds here. Measures the speeds
/// that the file does not give, on all ranks at once: the slowest counts.
Workload workload_of(comm::World& world, input::Cluster const& cluster, input::Deck const& deck,
                     BuildReport const& report);

/// Forecasts as a page of text. `name` of the file.
std::string cluster_text(std::string const& name, input::Cluster const& cluster, Workload const& work);

}  // namespace bellwether::app
