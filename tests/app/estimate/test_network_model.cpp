// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/network_model.hpp"
#include "comm/collective/dense_mean.hpp"
#include "comm/compression/compressed_allreduce.hpp"
#include "core/system/error.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

using namespace bellwether;
using app::NetworkModel;
using Catch::Approx;
using comm::Allreduce;
using comm::Wire;

namespace {

/// Links of one byte per second and no other cost: the seconds equal the bytes that leave a node.
NetworkModel links_alone(int ranks_per_node) {
  return {.ranks_per_node = ranks_per_node, .bandwidth = 1, .intra_node_bandwidth = INFINITY};
}

}  // namespace

TEST_CASE("the modelled bytes of means equal the bytes that ranks send") {
  for (int const ranks : {2, 3, 16, 512}) {
    Index const count = Index{ranks} * 32 * 1000;
    for (auto const wire : {Wire::fp32, Wire::bf16})
      CHECK(app::dense_mean_seconds(links_alone(1), ranks, count, wire, Allreduce::ordered) ==
            static_cast<double>(comm::DenseMean::predicted_bytes(count, 0, ranks, wire, Allreduce::ordered)));
    comm::CommConfig config;
    CHECK(app::compressed_allreduce_seconds(links_alone(1), ranks, count, config) ==
          static_cast<double>(comm::CompressedAllreduce::predicted_bytes(count, ranks, config.groups_of(count, 1))));
    config.scale_groups = 1;
    CHECK(app::compressed_allreduce_seconds(links_alone(1), ranks, count, config) ==
          static_cast<double>(comm::CompressedAllreduce::predicted_bytes(count, ranks, 1)));
  }
}

TEST_CASE("the ranks of a node share its link") {
  constexpr Index count = 64 * 32 * 1000;
  comm::CommConfig config;
  config.scale_groups = 1;
  // Of a rank's 15 messages, 12 leave its node of 4 ranks.
  CHECK(app::dense_mean_seconds(links_alone(4), 16, count, Wire::fp32, Allreduce::ordered) ==
        Approx(4 * 12 * 2 * 4.0 * count / 16));
  CHECK(app::compressed_allreduce_seconds(links_alone(4), 16, count, config) ==
        Approx(4 * 12 * 2 * (count / 8.0 / 16 + 4)));
  // In a ring, one rank of each node sends to the next node.
  CHECK(app::ring_seconds(links_alone(4), 16, 4.0 * count) == Approx(2 * 15 * 4.0 * count / 16));
  // Hierarchical: (Q-1)/Q N/(4L) + 8 bytes per rank.
  config.hierarchy = comm::Hierarchy::node;
  CHECK(app::compressed_allreduce_seconds(links_alone(4), 16, count, config) ==
        Approx(4 * (3 / 4.0 * count / 16 + 8 * 3)));
}

TEST_CASE("intra-node collectives use the intra-node bandwidth and latency") {
  constexpr Index count = 4 * 32 * 1000;
  NetworkModel const network{.ranks_per_node = 4,
                             .bandwidth = 1e-9,
                             .latency = 1e9,
                             .intra_node_bandwidth = 2,
                             .intra_node_latency = 5,
                             .overhead = 7};
  CHECK(app::exchange_seconds(network, 4, 100) == Approx(5 + 3 * 7 + 3 * 100 / 2.0));
  CHECK(app::dense_mean_seconds(network, 4, count, Wire::fp32, Allreduce::ordered) ==
        Approx(2 * (5 + 3 * 7 + 3 * 4.0 * count / 4 / 2)));
  CHECK(app::ring_seconds(network, 4, 400) == Approx(2 * 3 * (5 + 7 + 100 / 2.0)));
  comm::CommConfig config;
  config.hierarchy = comm::Hierarchy::node;  // one node compresses nothing: values out and back
  CHECK(app::compressed_allreduce_seconds(network, 4, count, config) ==
        Approx(2 * (5 + 3 * 7 + 3 * 4.0 * count / 4 / 2)));
}

TEST_CASE("inter-node time is the slower of link and node, plus an overhead per message") {
  NetworkModel network{.ranks_per_node = 2,
                       .bandwidth = 10,
                       .latency = 3,
                       .intra_node_bandwidth = 1e9,
                       .intra_node_latency = 0,
                       .overhead = 0.5};
  CHECK(app::exchange_seconds(network, 6, 100) == Approx(3 + 5 * 0.5 + 2 * 4 * 100 / 10.0));
  network.intra_node_bandwidth = 1;
  CHECK(app::exchange_seconds(network, 6, 100) == Approx(3 + 5 * 0.5 + 100));
}

TEST_CASE("one rank exchanges nothing, and ranks must fill nodes") {
  auto const network = links_alone(4);
  CHECK(app::dense_mean_seconds(network, 1, 1000, Wire::fp32, Allreduce::ordered) == 0);
  CHECK(app::compressed_allreduce_seconds(network, 1, 1000, {}) == 0);
  CHECK(app::ring_seconds(network, 1, 1000) == 0);
  CHECK_THROWS_AS(app::exchange_seconds(network, 6, 1), InternalError);
}

namespace {

// BERT-large with Adam, 16-bit gradients and NCCL rings over nodes of V100s, in milliseconds (arXiv 2102.02888,
// table of its profile). Rows of one node use no network. The row with the most ranks and 16 sequences per GPU
// determines the bandwidth.
struct Row {
  int ranks, sequences, passes;
  double forward, allreduce, backward, step;

  double total() const { return forward + allreduce + backward + step; }
};

struct Profile {
  static constexpr double bytes = 2 * 336226108.0;
  Row fitted;
  std::vector<Row> others;
  NetworkModel network;

  Profile(int ranks_per_node, Row const& given, std::vector<Row> more)
      : fitted(given),
        others(std::move(more)),
        network{.ranks_per_node = ranks_per_node,
                .bandwidth = 1,
                .latency = 20e-6,
                .intra_node_bandwidth = 1e12,
                .intra_node_latency = 1e-6,
                .overhead = 1e-6} {
    double const rounds = 2 * (fitted.ranks - 1);
    network.bandwidth = rounds * bytes / fitted.ranks / (fitted.allreduce * 1e-3 - rounds * 21e-6);
  }
  double ring(Row const& row) const { return app::ring_seconds(network, row.ranks, bytes) * 1e3; }
  double total(Row const& row) const {
    return row.passes * (fitted.forward + fitted.backward) + ring(row) + fitted.step;
  }
};

Profile const ethernet{4,
                       {64, 16, 1, 35.71, 2275.43, 60.81, 75.59},
                       {{64, 16, 4, 137.80, 2259.36, 243.72, 74.92},
                        {32, 16, 1, 37.91, 2173.35, 60.71, 75.63},
                        {16, 16, 1, 36.94, 2133.24, 62.82, 76.85},
                        {8, 16, 1, 34.95, 1897.21, 61.23, 75.26},
                        {64, 1, 1, 36.65, 2205.86, 33.63, 74.96}}};
Profile const infiniband{8,
                         {64, 16, 1, 32.81, 336.40, 59.99, 57.79},
                         {{64, 16, 4, 131.04, 339.52, 237.92, 56.91},
                          {32, 16, 1, 33.45, 297.28, 56.81, 57.98},
                          {16, 16, 1, 32.86, 183.74, 56.49, 58.60},
                          {64, 1, 1, 25.36, 316.18, 23.25, 58.49}}};

}  // namespace

TEST_CASE("the modelled ring on the paper's Ethernet matches its profile") {
  CHECK(ethernet.ring(ethernet.fitted) == Approx(ethernet.fitted.allreduce));
  CHECK(ethernet.network.bandwidth * 8e-9 == Approx(4.1).epsilon(0.15));  // Gbit/s, as measured in the paper
  for (auto const& row : ethernet.others) {
    CAPTURE(row.ranks, row.sequences, row.passes);
    CHECK(ethernet.ring(row) == Approx(row.allreduce).epsilon(0.1));
    CHECK(ethernet.total(row) == Approx(row.total()).epsilon(0.1));
  }
}

// Runs only by name: prints the table of docs/results/log/2026-11-26_forecasts.md.
TEST_CASE("the paper's profile compared with forecasts", "[.profile]") {
  for (auto const& [name, profile] : {std::pair("Ethernet", ethernet), std::pair("InfiniBand", infiniband)}) {
    std::printf("%s, %.1f Gbit/s a node\n", name, profile.network.bandwidth * 8e-9);
    for (auto const& row : profile.others)
      std::printf("| %d | %d | %d | %.0f ms | %.0f ms | %.2f | %.0f ms | %.0f ms | %.2f |\n", row.ranks, row.sequences,
                  row.passes, row.allreduce, profile.ring(row), profile.ring(row) / row.allreduce, row.total(),
                  profile.total(row), profile.total(row) / row.total());
  }
}
