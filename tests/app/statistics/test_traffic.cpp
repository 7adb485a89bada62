// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/statistics/traffic.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using app::PhaseTraffic;
using app::TrafficTotals;

namespace {

PhaseTraffic dense_step() {
  return app::traffic_of(optim::Phase::dense,
                         {.exchange = 8000, .scalars = 24, .dense_fp32 = 8000, .dense_16bit = 4000});
}

PhaseTraffic compressed_step(std::int64_t values, std::int64_t inside) {
  return app::traffic_of(optim::Phase::compressed, {.exchange = 250 + values,
                                                    .worker = 125,
                                                    .server = 125,
                                                    .scalars = 150,
                                                    .intra_node = inside,
                                                    .dense_fp32 = 8000,
                                                    .dense_16bit = 4000});
}

}  // namespace

TEST_CASE("traffic adds up by phase") {
  TrafficTotals totals;
  for (int step = 0; step < 2; ++step) totals.add(dense_step());
  for (int step = 0; step < 3; ++step) totals.add(compressed_step(40, 60));
  CHECK((totals.dense.phase == 0 && totals.dense.steps == 2 && totals.dense.sent_bytes == 16048));
  CHECK((totals.dense.exchange_bytes() == 16000 && totals.dense.other_bytes() == 16000));
  CHECK((totals.compressed.phase == 1 && totals.compressed.steps == 3 && totals.compressed.sent_bytes == 1320));
  CHECK((totals.compressed.worker_bytes == 375 && totals.compressed.server_bytes == 375));
  CHECK((totals.compressed.exchange_bytes() == 870 && totals.compressed.other_bytes() == 120));
  CHECK((totals.compressed.intra_node_bytes == 180 && totals.compressed.inter_node_bytes() == 1140));
  auto const all = totals.all();
  CHECK((all.steps == 5 && all.sent_bytes == 17368 && all.scalar_bytes == 498));
  CHECK((all.dense_bytes_fp32 == 40000 && all.dense_bytes_16bit == 20000));
}

TEST_CASE("a run ends with its bytes by phase, and those of dense means") {
  TrafficTotals totals;
  CHECK(app::traffic_lines(totals).empty());
  totals.add(PhaseTraffic{.phase = 0, .steps = 1});  // one rank sends nothing
  CHECK(app::traffic_lines(totals).empty());
  totals = {};
  totals.add(dense_step());
  CHECK(app::traffic_lines(totals) ==
        std::vector<std::string>{"sent by rank 0 in 1 step: 8024 bytes, 24 bytes of them scalars"});
  for (int step = 0; step < 3; ++step) totals.add(compressed_step(0, 0));
  auto const lines = app::traffic_lines(totals);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "sent by rank 0 in 1 step before the freeze: 8024 bytes, 24 bytes of them scalars");
  CHECK(lines[1] ==
        "sent by rank 0 in 3 steps after the freeze: 1200 bytes, to servers (all-to-all) 375 bytes, from "
        "them (all-gather) 375 bytes, scalars and sketches 450 bytes");
  CHECK(lines[2] ==
        "dense means in fp32 over the same 4 steps would have sent 32000 bytes, 3.47 times as much; 3.66 "
        "without scalars and sketches");
  CHECK(lines[3] ==
        "dense means in 16 bit over the same 4 steps would have sent 16000 bytes, 1.73 times as much; 1.83 "
        "without scalars and sketches");
}

TEST_CASE("with nodes, intra-node and inter-node bytes are separate") {
  TrafficTotals totals;
  totals.add(compressed_step(40, 60));
  auto const lines = app::traffic_lines(totals);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].find("other exchange inside the node 40 bytes, scalars and sketches 150 bytes") != std::string::npos);
  CHECK(lines[3] == "sent by rank 0 inside its node 60 bytes, to other nodes 380 bytes");
  CHECK(app::compared_with(880, {.sent_bytes = 440}) == "880 bytes, 2.00 times as much");
}
