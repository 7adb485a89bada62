// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/compressed_allreduce.hpp"
#include "comm/transport/world.hpp"
#include "tests/comm/compression/compressed_fixture.hpp"
#include "tests/support/compressed_reference.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

// Golden means of the NumPy version (tests/golden/onebit_mean.py) for 2, 3 and 4 ranks, with masked elements and scale
// groups that straddle chunks. It was written from docs/developer/onebit_methods.md, independently of the reference
// here.

using namespace bellwether;
using nlohmann::json;

namespace {

json golden_means() { return json::parse(std::ifstream(test::golden_file("onebit_traces.json"))).at("mean"); }

comm::Scale scale_of(json const& entry) {
  return entry.at("scale") == "rms" ? comm::Scale::rms : comm::Scale::mean_magnitude;
}

std::vector<bool> active_of(json const& entry) {
  std::vector<bool> active(entry.at("vectors").at(0).size(), true);
  for (std::size_t const k : entry.at("dead")) active[k] = false;
  return active;
}

/// Parses words of eight hexadecimal digits.
std::vector<std::uint32_t> words_of(std::string const& digits) {
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < digits.size(); i += 8)
    words.push_back(static_cast<std::uint32_t>(std::stoul(digits.substr(i, 8), nullptr, 16)));
  return words;
}

template <class Real>
std::vector<std::vector<Real>> vectors_of(json const& entry) {
  return entry.at("vectors").get<std::vector<std::vector<Real>>>();
}

/// Returns true if the numbers agree within a tolerance relative to the largest of them.
template <class Real>
bool close(std::vector<Real> const& values, json const& golden, double tolerance) {
  if (values.size() != golden.size()) return false;
  double off = 0, largest = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    double const expected = golden[k];
    off = test::larger(off, static_cast<double>(values[k]) - expected);
    largest = test::larger(largest, expected);
  }
  return off <= tolerance * largest;
}

/// Returns true if the signs of active elements equal the golden words, and masked elements are 0.
template <class Real>
bool signs_are(std::vector<Real> const& mean, std::vector<bool> const& active,
               std::vector<std::uint32_t> const& words) {
  for (std::size_t k = 0; k < mean.size(); ++k) {
    bool const plus = (words[k / 32] << (k % 32) & 0x80000000u) != 0;
    if (active[k] ? (mean[k] == 0 || (mean[k] > 0) != plus) : mean[k] != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the reference of these tests agrees with the NumPy version") {
  auto const means = golden_means();
  REQUIRE(means.size() == 3);
  for (auto const& entry : means) {
    std::size_t const ranks = entry.at("ranks");
    auto const inputs = vectors_of<double>(entry);
    test::ReferenceCompression<double> reference(inputs[0].size(), ranks, scale_of(entry), entry.at("groups"));
    reference.set_active(active_of(entry));
    for (auto const& call : entry.at("calls")) {
      auto const mean = reference.mean(inputs);
      CHECK(signs_are(mean, reference.active, words_of(call.at("signs"))));
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        CAPTURE(ranks, rank);
        CHECK(test::packed(reference.worker_signs[rank]) == words_of(call.at("worker_signs")[rank]));
        CHECK(close(reference.worker_scales[rank], call.at("worker_scale")[rank], 1e-9));
        CHECK(close(reference.server_scales[rank], call.at("server_scale")[rank], 1e-9));
        CHECK(std::abs(reference.worker_error_squared_norm(rank) /
                           call.at("worker_error_squared_norm")[rank].get<double>() -
                       1) < 1e-9);
        double const server = call.at("server_error_squared_norm")[rank];
        CHECK(std::abs(reference.server_error_squared_norm(rank) - server) <= 1e-9 * server);
      }
      if (call.contains("output")) CHECK(close(mean, call.at("output"), 1e-9));
    }
    CHECK(entry.at("calls").back().contains("output"));
  }
}

TEST_CASE("the compressed mean equals the golden mean for this number of ranks") {
  auto& world = test::world().communicator();
  Exec const exec;
  for (auto const& entry : golden_means()) {
    int const ranks = entry.at("ranks");
    if (world.size() < ranks) continue;
    auto const group = world.split(world.rank() < ranks ? 0 : 1, world.rank());
    if (world.rank() >= ranks) continue;
    auto const rank = static_cast<std::size_t>(group->rank());
    auto const mine = vectors_of<float>(entry)[rank];
    comm::CompressionOptions options;
    options.scale = scale_of(entry);
    options.scale_groups = entry.at("groups");
    comm::CompressedAllreduce mean(*group, static_cast<Index>(mine.size()), options);
    auto const active = active_of(entry);
    mean.set_active(exec, test::uploaded(test::packed(active)));
    for (auto const& call : entry.at("calls")) {
      auto const result = test::mean_of(mean, exec, mine);
      CAPTURE(ranks, rank);
      CHECK(signs_are(result, active, words_of(call.at("signs"))));
      CHECK(test::downloaded(mean.worker_signs()) == words_of(call.at("worker_signs")[rank]));
      auto const& report = mean.last_report();
      CHECK(close(report.worker_scales, call.at("worker_scale")[rank], 2e-6));
      CHECK(close(report.server_scales, call.at("server_scale")[rank], 2e-6));
      double const worker = call.at("worker_error_squared_norm")[rank],
                   server = call.at("server_error_squared_norm")[rank];
      CHECK(std::abs(report.worker_error_squared_norm - worker) <= 1e-5 * worker);
      CHECK(std::abs(report.server_error_squared_norm - server) <= 1e-5 * server);
      CHECK(mean.last_traffic().sent_bytes() == entry.at("bytes_sent").get<std::int64_t>());
      if (call.contains("output")) CHECK(close(result, call.at("output"), 2e-6));
    }
  }
}
