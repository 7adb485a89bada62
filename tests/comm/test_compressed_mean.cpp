// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compressed_mean.hpp"
#include "comm/world.hpp"
#include "core/error.hpp"
#include "tests/comm/compressed_fixture.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_random.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace bellwether;
using bellwether::comm::CompressedAllreduce;
using bellwether::comm::CompressionOptions;
using bellwether::comm::Scale;
using Reference = bellwether::test::ReferenceCompression<float>;

namespace {

CompressionOptions compressing(Scale scale = Scale::mean_magnitude, std::int64_t groups = 1) {
  CompressionOptions options;
  options.scale = scale;
  options.scale_groups = groups;
  options.compress_alone = true;
  return options;
}

/// Several means of random inputs against the reference, bit by bit, with its scales, signs and norms of errors.
void compare_with_reference(Index count, CompressionOptions const& options, std::uint64_t seed, double octaves,
                            std::vector<bool> const& live, float factor = 1) {
  auto& group = test::world().communicator();
  auto const rank = static_cast<std::size_t>(group.rank());
  CAPTURE(count, int(options.scale), options.scale_groups, seed, octaves);
  Exec const exec;
  CompressedAllreduce mean(group, count, options);
  Reference reference(static_cast<std::size_t>(count), static_cast<std::size_t>(group.size()), options.scale,
                      static_cast<std::size_t>(options.scale_groups));
  if (!live.empty()) {
    reference.set_live(live);
    mean.set_live(exec, test::uploaded(test::packed(live)));
  }
  for (std::uint64_t call = 0; call < 4; ++call) {
    auto inputs = test::random_inputs(group.size(), count, seed + call, octaves);
    for (auto& input : inputs)
      for (float& value : input) value *= factor;
    auto const result = test::mean_of(mean, exec, inputs[rank]);
    CHECK(test::differences(result, reference.mean(inputs)) == 0);
    CHECK(test::equal_on_all_ranks(group, result));
    CHECK(mean.last_traffic().sent_bytes() ==
          CompressedAllreduce::predicted_bytes(count, group.size(), options.scale_groups));
    if (count == 0) continue;
    CHECK(test::downloaded(mean.worker_signs()) == test::packed(reference.worker_signs[rank]));
    auto const& report = mean.last_report();
    auto worker_scales = reference.worker_scales[rank];
    worker_scales.resize(report.worker_scales.size());  // groups beyond the end have none
    CHECK(test::differences(report.worker_scales, worker_scales) == 0);
    CHECK(test::differences(report.server_scales, reference.server_scales[rank]) == 0);
    double const worker = reference.worker_error_squared_norm(rank);
    double const server = reference.server_error_squared_norm(rank);
    CHECK(std::abs(report.worker_error_squared_norm - worker) <= 1e-5 * worker);
    CHECK(std::abs(report.server_error_squared_norm - server) <= 1e-5 * server + 1e-10 * worker);
  }
}

}  // namespace

TEST_CASE("the compressed mean is the reference, bit for bit, on all ranks") {
  auto const scale = GENERATE(Scale::rms, Scale::mean_magnitude);
  auto const count = GENERATE(Index{0}, 1, 2, 3, 31, 32, 33, 63, 65, 96, 127, 129, 1000, 4096, 12289, 40001);
  compare_with_reference(count, compressing(scale), 11, 6, {});
}

TEST_CASE("the compressed mean of random sizes, masks, magnitudes and groups") {
  auto const seed = static_cast<std::uint64_t>(GENERATE(take(40, random(1, 1 << 30))));
  RandomStream stream(seed, Purpose::sketch, 0);
  auto const count = static_cast<Index>(std::exp2(stream.real() * 14));
  auto const groups = static_cast<std::int64_t>(std::exp2(stream.real() * 7));
  double const octaves = stream.real() * 40;
  double const alive = stream.real();
  std::vector<bool> live;
  for (Index k = 0; k < count; ++k) live.push_back(stream.real() < alive);
  auto const scale = stream.real() < 0.5 ? Scale::rms : Scale::mean_magnitude;
  compare_with_reference(count, compressing(scale, groups), seed, octaves, live);
}
