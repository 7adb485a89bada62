// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/communicator.hpp"
#include "comm/transport/world.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/replay.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string_view>

using namespace bellwether;
using nlohmann::json;

namespace {

std::vector<double> numbers(json const& value) {
  if (value.is_number()) return {value.get<double>()};
  std::vector<double> all;
  for (auto const& entry : value)
    for (double const one : numbers(entry)) all.push_back(one);
  return all;
}

/// Returns the largest difference between ours and the twin's, relative to the twin's largest magnitude.
double worst(json const& ours, json const& twin) {
  auto const a = numbers(ours), b = numbers(twin);
  if (a.size() != b.size()) return 1;  // a failed REQUIRE on one rank would leave the others waiting
  double difference = 0, scale = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = test::larger(difference, a[i] - b[i]);
    scale = test::larger(scale, b[i]);
  }
  return difference / scale;
}

}  // namespace

TEST_CASE("1-bit optimizers follow the golden traces of this many ranks") {
  auto& ranks = test::world().communicator();
  auto const golden = json::parse(std::ifstream(test::golden_file("onebit_traces.json")));
  int compared = 0;
  for (auto const& trace : golden.at("traces")) {
    auto const& in = trace.at("in");
    if (in.at("gradients").at("ranks") != ranks.size()) continue;
    ++compared;
    json const out = test::replay({in, ranks.size()}, ranks);
    if (ranks.rank() != 0) continue;
    auto const& twin = trace.at("out");
    CHECK(out.at("steps").size() == twin.at("steps").size());
    for (std::size_t t = 0; t < twin.at("steps").size(); ++t) {
      auto const &step = out["steps"][t], &expected = twin["steps"][t];
      INFO(trace.at("name").get<std::string>() << ", step " << t + 1);
      CHECK(step.at("phase") == expected.at("phase"));
      CHECK(step.value("skipped", false) == expected.value("skipped", false));
      if (expected.value("skipped", false)) {
        for (auto const& bad : in.at("gradients").at("not_finite")) {  // (call, rank, tensor, element)
          if (bad[0] != static_cast<int>(t) + 1) continue;
          CHECK(step.at("bad_rank") == bad[1]);
          CHECK(step.at("bad_tensor") == in.at("tensors").at(bad[2].get<std::size_t>()).at("name"));
        }
        continue;
      }
      for (auto const* key : {"coefficient", "average", "factor", "weight_norm", "worker_scale", "server_scale"}) {
        INFO(key << ": " << step.at(key) << " " << expected.at(key));
        CHECK(worst(step.at(key), expected.at(key)) < 2e-6);
      }
      CHECK(worst(step.at("bytes_sent"), expected.at("bytes_sent")) == 0);
    }
    for (auto const* key : {"parameters", "momentum", "variance", "fresh_variance"}) {
      // Only 1-bit LAMB with steer: variance has it.
      auto const& settings = in.at("optimizer");
      if (key == std::string_view("fresh_variance") &&
          (settings.at("name") != "onebit_lamb" || settings.value("steer", "variance") != "variance"))
        continue;
      INFO(trace.at("name").get<std::string>() << ", final " << key);
      CHECK(worst(out["final"].at(key), twin["final"].at(key)) < 2e-6);
    }
    for (auto const* key : {"worker_error_squared_norm", "server_error_squared_norm"})
      CHECK(worst(out["final"].at(key), twin["final"].at(key)) < 1e-5);
  }
  CHECK(compared >= 3);
}
