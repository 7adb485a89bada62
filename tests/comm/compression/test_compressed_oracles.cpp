// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/compressed_allreduce.hpp"
#include "comm/transport/world.hpp"
#include "tests/comm/compression/compressed_fixture.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/memory_state.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

// Oracles O1 to O9 of docs/developer/onebit_methods.md, section 7.

using namespace bellwether;
using bellwether::comm::CompressedAllreduce;
using bellwether::comm::CompressionOptions;
using bellwether::comm::Scale;

namespace {

CompressionOptions compressing(Scale scale) {
  CompressionOptions options;
  options.scale = scale;
  options.compress_alone = true;
  return options;
}

std::vector<float> error_of(CompressedAllreduce& mean, std::string const& end) {
  test::MemoryState state;
  mean.visit_state(state);
  return state.arrays.at(end);
}

double sum_of(std::vector<float> const& values, int power) {
  double sum = 0;
  for (float const value : values) sum += std::pow(std::abs(static_cast<double>(value)), power);
  return sum;
}

/// Steps after which the conservation law is checked.
constexpr int looks[] = {10, 50, 300, 2000};

/// Returns, for each step in `looks`, the maximum over elements of |sum of outputs + mean over ranks of (e + d) - sum
/// of mean inputs|. Inputs change every step and repeat after 40 steps. output: maps the inputs of a step to its
/// output. residuals: returns e + d by element.
template <class Output, class Residuals>
std::vector<double> broken_law(std::size_t ranks, Index count, Output const& output, Residuals const& residuals) {
  std::vector<double> law(static_cast<std::size_t>(count));
  std::vector<std::vector<std::vector<float>>> all_inputs;
  for (std::uint64_t set = 0; set < 40; ++set)
    all_inputs.push_back(test::random_inputs(static_cast<int>(ranks), count, 1000 + set, 3));
  std::vector<double> broken;
  for (int step = 1; step <= looks[std::size(looks) - 1]; ++step) {
    auto const& inputs = all_inputs[static_cast<std::size_t>(step - 1) % 40];
    auto const out = output(inputs);
    for (std::size_t k = 0; k < law.size(); ++k) law[k] += static_cast<double>(out[k]);
    for (auto const& input : inputs)
      for (std::size_t k = 0; k < input.size(); ++k)
        law[k] -= static_cast<double>(input[k]) / static_cast<double>(ranks);
    if (std::ranges::find(looks, step) == std::end(looks)) continue;
    auto const held = residuals();
    broken.push_back(0);
    for (std::size_t k = 0; k < law.size(); ++k) broken.back() = test::larger(broken.back(), law[k] + held[k]);
  }
  return broken;
}

}  // namespace

TEST_CASE("O1: norms of the sent values and of the residuals") {
  auto& group = test::world().communicator();
  Exec const exec;
  auto const mine = test::random_vector(group.rank(), 5000, 2, 8);
  for (Scale const scale : {Scale::rms, Scale::mean_magnitude}) {
    CompressedAllreduce mean(group, 5000, compressing(scale));
    test::mean_of(mean, exec, mine);
    double const sent = static_cast<double>(mean.last_report().worker_scales[0]);
    double const squares = sum_of(mine, 2);
    double const magnitudes = sum_of(mine, 1);
    double const kept = sum_of(error_of(mean, "worker_error"), 2);
    if (scale == Scale::rms) {
      CHECK(std::abs(sent * std::sqrt(5000.0) / std::sqrt(squares) - 1) < 1e-7);
      CHECK(std::abs(kept / (2 * (squares - sent * magnitudes)) - 1) < 1e-6);
    } else {
      CHECK(std::abs(sent * 5000 / magnitudes - 1) < 1e-7);
      // A contraction by 1 - rho^2.
      CHECK(std::abs(kept / (squares - magnitudes * magnitudes / 5000) - 1) < 1e-6);
    }
    CHECK(std::abs(mean.last_report().worker_error_squared_norm / kept - 1) < 1e-6);
  }
}

TEST_CASE("O2: equal magnitudes pass unchanged and leave no residual") {
  auto& group = test::world().communicator();
  auto const scale = GENERATE(Scale::rms, Scale::mean_magnitude);
  auto const magnitude = GENERATE(0.0f, 0.5f, 3.0f);
  std::vector<float> values;
  for (Index k = 0; k < 999; ++k) values.push_back(test::random_input(0, k, 4, 1) < 0 ? -magnitude : magnitude);
  Exec const exec;
  CompressedAllreduce mean(group, 999, compressing(scale));
  for (int call = 0; call < 3; ++call) CHECK(test::mean_of(mean, exec, values) == values);
  CHECK(sum_of(error_of(mean, "worker_error"), 1) == 0);
  CHECK(sum_of(error_of(mean, "server_error"), 1) == 0);
}

TEST_CASE("without error feedback every call gives the result of the first") {
  auto& group = test::world().communicator();
  auto const scale = GENERATE(Scale::rms, Scale::mean_magnitude);
  auto options = compressing(scale);
  options.error_feedback = false;
  Exec const exec;
  CompressedAllreduce forgetful(group, 999, options);
  for (std::uint64_t call = 0; call < 3; ++call) {
    auto const input = test::random_vector(group.rank(), 999, 5 + call, 3);
    CompressedAllreduce fresh(group, 999, compressing(scale));
    CHECK(test::mean_of(forgetful, exec, input) == test::mean_of(fresh, exec, input));
  }
}

TEST_CASE("O3: outputs plus residuals equal the inputs") {
  auto& group = test::world().communicator();
  auto const ranks = static_cast<std::size_t>(group.size());
  Index const count = 150;
  auto const scale = GENERATE(Scale::rms, Scale::mean_magnitude);
  SECTION("reference in double") {
    test::ReferenceCompression<double> reference(static_cast<std::size_t>(count), ranks, scale);
    auto const output = [&](auto const& inputs) {
      std::vector<std::vector<double>> doubled;
      for (auto const& input : inputs) doubled.emplace_back(input.begin(), input.end());
      return reference.mean(doubled);
    };
    auto const residuals = [&] {
      auto held = reference.server_error;
      for (auto const& error : reference.worker_error)
        for (std::size_t k = 0; k < held.size(); ++k) held[k] += error[k] / static_cast<double>(ranks);
      return held;
    };
    for (double const broken : broken_law(ranks, count, output, residuals)) CHECK(broken < 1e-11);
  }
  SECTION("the product") {
    Exec const exec;
    CompressedAllreduce mean(group, count, compressing(scale));
    double squares = 0;
    auto const output = [&](auto const& inputs) {
      squares = test::larger(squares, sum_of(inputs[0], 2));
      return test::mean_of(mean, exec, inputs[static_cast<std::size_t>(group.rank())]);
    };
    auto const residuals = [&] {
      std::vector<double> held(static_cast<std::size_t>(count));
      auto const worker = error_of(mean, "worker_error");
      auto const server = error_of(mean, "server_error");
      auto const first =
          static_cast<std::size_t>(32 * ((count + 32 * group.size() - 1) / (32 * group.size())) * group.rank());
      for (std::size_t k = 0; k < held.size(); ++k)
        held[k] = static_cast<double>(worker[k]) / static_cast<double>(ranks);
      for (std::size_t k = 0; k < server.size(); ++k) held[first + k] += static_cast<double>(server[k]);
      group.sum_host(held, "bellwether::test::residuals");
      return held;
    };
    auto const broken = broken_law(ranks, count, output, residuals);
    for (std::size_t i = 0; i < broken.size(); ++i)
      CHECK(broken[i] <= 4e-7 * looks[i] * std::sqrt(squares / static_cast<double>(count)));
  }
}

namespace {

/// Specification example: N(0,1) inputs, two ranks, 128 elements. Checks the error of the averaged outputs.
template <class Output>
void approach(std::vector<std::vector<double>> const& inputs, Output const& output) {
  std::vector<double> sum(128);
  auto const error = [&](int steps) {
    double squares = 0;
    for (std::size_t k = 0; k < 128; ++k) squares += std::pow(sum[k] / steps - (inputs[0][k] + inputs[1][k]) / 2, 2);
    return std::sqrt(squares / 128);
  };
  for (int step = 1; step <= 2000; ++step) {
    auto const out = output();
    for (std::size_t k = 0; k < 128; ++k) sum[k] += static_cast<double>(out[k]);
    if (step == 1) CHECK(std::abs(error(1) - 0.628) < 0.15);
    if (step == 10) CHECK(std::abs(error(10) - 0.147) < 0.06);
  }
  CHECK(error(2000) < 0.0025);
}

}  // namespace

TEST_CASE("O3: averaged outputs converge to a constant input") {
  std::vector<std::vector<double>> inputs(2);
  RandomStream stream(77, Purpose::sketch, 0);
  for (auto& input : inputs)
    for (int k = 0; k < 128; ++k) {
      double const radius = std::sqrt(-2 * std::log(1 - stream.real()));
      input.push_back(radius * std::cos(6.283185307179586 * stream.real()));
    }
  test::ReferenceCompression<double> reference(128, 2, Scale::rms);
  approach(inputs, [&] { return reference.mean(inputs); });

  auto& world = test::world().communicator();
  auto const pair = world.split(world.rank() / 2, world.rank());
  if (pair->size() != 2) return;
  auto const& input = inputs[static_cast<std::size_t>(pair->rank())];
  std::vector<float> const mine(input.begin(), input.end());
  Exec const exec;
  CompressedAllreduce mean(*pair, 128, compressing(Scale::rms));
  approach(inputs, [&] { return test::mean_of(mean, exec, mine); });
}

TEST_CASE("O4: each chunk has one magnitude, equal on all ranks") {
  auto& group = test::world().communicator();
  Exec const exec;
  Index const count = 5000;
  CompressedAllreduce mean(group, count, compressing(Scale::rms));
  std::vector<float> result;
  for (std::uint64_t call = 0; call < 3; ++call)
    result = test::mean_of(mean, exec, test::random_vector(group.rank(), count, call, 5));
  CHECK(test::equal_on_all_ranks(group, result));
  test::ReferenceCompression<float> const cut(static_cast<std::size_t>(count), static_cast<std::size_t>(group.size()),
                                              Scale::rms);
  for (std::size_t chunk = 0; chunk < static_cast<std::size_t>(group.size()); ++chunk) {
    std::set<float> magnitudes;
    for (std::size_t k = cut.chunk_first(chunk); k < cut.chunk_first(chunk + 1); ++k)
      magnitudes.insert(std::abs(result[k]));
    CHECK(magnitudes.size() == 1);
    CHECK(std::isfinite(*magnitudes.begin()));
  }
}

TEST_CASE("O5: a single rank that compresses has no server residual") {
  auto const self = comm::make_self_communicator();
  auto const scale = GENERATE(Scale::rms, Scale::mean_magnitude);
  Exec const exec;
  CompressedAllreduce mean(*self, 10000, compressing(scale));
  test::ReferenceCompression<float> reference(10000, 1, scale);
  for (std::uint64_t call = 0; call < 5; ++call) {
    auto const inputs = test::random_inputs(1, 10000, call, 6);
    auto const result = test::mean_of(mean, exec, inputs[0]);
    reference.mean(inputs);
    float const sent = reference.worker_scales[0][0];
    for (std::size_t k = 0; k < result.size(); ++k) REQUIRE(result[k] == (reference.worker_signs[0][k] ? sent : -sent));
    CHECK(sum_of(error_of(mean, "server_error"), 1) == 0);
  }
}

TEST_CASE("O6: zeros count as positive, and the first element is the most significant bit") {
  auto& group = test::world().communicator();
  std::vector<float> values{1, -1, -2, -3, -1, -2, -3, 1};
  values.resize(40, -5);
  values[33] = 0.0f;
  values[34] = -0.0f;
  Exec const exec;
  CompressedAllreduce mean(group, 40, compressing(Scale::rms));
  test::mean_of(mean, exec, values);
  auto const signs = test::downloaded(mean.worker_signs());
  CHECK(signs[0] == 0x81000000u);
  CHECK(signs[1] == 0x60000000u);
}

TEST_CASE("O6: the order of ranks affects only rounding") {
  auto& group = test::world().communicator();
  Exec const exec;
  CompressedAllreduce mean(group, 3000, compressing(Scale::rms));
  CompressedAllreduce turned(group, 3000, compressing(Scale::rms));
  auto const inputs = test::random_inputs(group.size(), 3000, 12, 5);
  auto const straight = test::mean_of(mean, exec, inputs[static_cast<std::size_t>(group.rank())]);
  auto const other = test::mean_of(turned, exec, inputs[static_cast<std::size_t>((group.rank() + 1) % group.size())]);
  for (std::size_t k = 0; k < straight.size(); ++k) REQUIRE(std::abs(straight[k] - other[k]) <= 1e-6f);
}

TEST_CASE("O8: a million elements equal compressing, averaging and compressing again") {
  auto& group = test::world().communicator();
  std::size_t const count = std::size_t{1} << 20;
  std::vector<float> values;
  for (std::size_t k = 0; k < count; ++k) {
    RandomStream stream(8, Purpose::sketch, k, static_cast<std::uint32_t>(group.rank()));
    values.push_back(static_cast<float>(stream.real() - 0.5 + 0.01 * group.rank()));
  }
  double const sent = std::sqrt(sum_of(values, 2) / static_cast<double>(count));
  std::vector<double> server;
  for (float const value : values) server.push_back((value >= 0 ? sent : -sent) / group.size());
  group.sum_host(server, "bellwether::test::plain_mean");
  test::ReferenceCompression<float> const cut(count, static_cast<std::size_t>(group.size()), Scale::rms);

  Exec const exec;
  CompressedAllreduce mean(group, static_cast<Index>(count), compressing(Scale::rms));
  auto const result = test::mean_of(mean, exec, values);
  std::int64_t wrong = 0;
  for (std::size_t chunk = 0; chunk < static_cast<std::size_t>(group.size()); ++chunk) {
    double squares = 0;
    std::size_t const first = cut.chunk_first(chunk);
    std::size_t const last = cut.chunk_first(chunk + 1);
    for (std::size_t k = first; k < last; ++k) squares += server[k] * server[k];
    double const magnitude = std::sqrt(squares / static_cast<double>(last - first));
    for (std::size_t k = first; k < last; ++k) {
      double const expected = server[k] >= 0 ? magnitude : -magnitude;
      bool const close = std::abs(static_cast<double>(result[k]) - expected) <= 1e-6;
      wrong += !close && !(std::abs(server[k]) <= 1e-6);
    }
  }
  CHECK(wrong == 0);
}

namespace {

/// The vector of O9 and the results of its two calls.
struct Golden {
  double worker_scales[2];
  double server_scale;
  unsigned worker_bits[2];
  char const* signs;
  double worker_errors[2];
  double server_error;
};
constexpr Golden golden[2] = {
    {{1.15244306, 2.31840462}, 1.35748686, {0x00FF, 0x36D9}, "--++-++-++-++--+", {5.62182217, 23.6221041}, 5.4845449},
    {{1.42507992, 2.88578638}, 1.77869691, {0x033F, 0x724B}, "-+----+--++-++++", {11.4599886, 46.6516789}, 22.0890824}};

std::vector<std::vector<float>> golden_inputs() {
  std::vector<std::vector<float>> inputs(2);
  for (int k = 0; k < 16; ++k) {
    inputs[0].push_back((static_cast<float>(k) - 7.5f) * 0.25f);
    inputs[1].push_back((static_cast<float>((5 * k) % 16) - 7) * 0.5f);
  }
  return inputs;
}

std::string signs_of(auto const& values) {
  std::string signs;
  for (auto const value : values) signs += value >= 0 ? '+' : '-';
  return signs;
}

bool near(double value, double expected, double tolerance) {
  return std::abs(value - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

}  // namespace

TEST_CASE("O9: the reference in double reproduces the golden vector") {
  test::ReferenceCompression<double> reference(16, 2, Scale::rms);
  std::vector<std::vector<double>> inputs;
  for (auto const& input : golden_inputs()) inputs.emplace_back(input.begin(), input.end());
  for (Golden const& expected : golden) {
    auto const result = reference.mean(inputs);
    CHECK(signs_of(result) == expected.signs);
    CHECK(near(reference.server_scales[0][0], expected.server_scale, 1e-8));
    CHECK(reference.server_scales[1].empty());
    for (std::size_t rank = 0; rank < 2; ++rank) {
      CHECK(near(reference.worker_scales[rank][0], expected.worker_scales[rank], 1e-8));
      CHECK(near(reference.worker_error_squared_norm(rank), expected.worker_errors[rank], 1e-8));
      CHECK(test::packed(reference.worker_signs[rank])[0] >> 16 == expected.worker_bits[rank]);
    }
    CHECK(near(reference.server_error_squared_norm(0), expected.server_error, 1e-8));
  }
}

TEST_CASE("O9: two ranks reproduce the golden vector") {
  auto& world = test::world().communicator();
  auto const pair = world.split(world.rank() / 2, world.rank());
  if (pair->size() != 2) return;
  auto const rank = static_cast<std::size_t>(pair->rank());
  Exec const exec;
  CompressedAllreduce mean(*pair, 16, compressing(Scale::rms));
  for (Golden const& expected : golden) {
    auto const result = test::mean_of(mean, exec, golden_inputs()[rank]);
    CHECK(signs_of(result) == expected.signs);
    for (float const value : result) CHECK(near(std::abs(static_cast<double>(value)), expected.server_scale, 2e-6));
    CHECK(test::downloaded(mean.worker_signs())[0] >> 16 == expected.worker_bits[rank]);
    auto const& report = mean.last_report();
    CHECK(near(static_cast<double>(report.worker_scales[0]), expected.worker_scales[rank], 2e-6));
    CHECK(near(report.worker_error_squared_norm, expected.worker_errors[rank], 2e-6));
    CHECK(report.server_scales.size() == (rank == 0 ? 1 : 0));
    CHECK(near(report.server_error_squared_norm, rank == 0 ? expected.server_error : 0, 2e-6));
  }
}
