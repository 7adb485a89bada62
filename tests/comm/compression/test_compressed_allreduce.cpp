// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/compressed_allreduce.hpp"
#include "comm/transport/mpi_communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/system/error.hpp"
#include "tests/comm/compression/compressed_fixture.hpp"
#include "tests/support/allocation_watch.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_random.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
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

/// Compares several means of random inputs, scaled by element, with the reference, bit by bit; also scales,
/// signs and error norms.
void compare_with_reference(Index count, CompressionOptions const& options, std::uint64_t seed, double octaves,
                            std::vector<bool> const& active, std::vector<float> const& factors = {1}) {
  auto& group = test::world().communicator();
  auto const rank = static_cast<std::size_t>(group.rank());
  CAPTURE(count, int(options.scale), options.scale_groups, seed, octaves);
  Exec const exec;
  CompressedAllreduce mean(group, count, options);
  Reference reference(static_cast<std::size_t>(count), static_cast<std::size_t>(group.size()), options.scale,
                      static_cast<std::size_t>(options.scale_groups));
  if (!active.empty()) {
    reference.set_active(active);
    mean.set_active(exec, test::uploaded(test::packed(active)));
  }
  for (std::uint64_t call = 0; call < 4; ++call) {
    auto inputs = test::random_inputs(group.size(), count, seed + call, octaves);
    for (auto& input : inputs)
      for (std::size_t k = 0; k < input.size(); ++k) input[k] *= factors[k % factors.size()];
    auto const result = test::mean_of(mean, exec, inputs[rank]);
    CHECK(test::differences(result, reference.mean(inputs)) == 0);
    CHECK(test::equal_on_all_ranks(group, result));
    CHECK(mean.last_traffic().sent_bytes() ==
          CompressedAllreduce::predicted_bytes(count, group.size(), options.scale_groups));
    if (count == 0) continue;
    CHECK(test::downloaded(mean.worker_signs()) == test::packed(reference.worker_signs[rank]));
    auto const& report = mean.last_report();
    auto worker_scales = reference.worker_scales[rank];
    worker_scales.resize(report.worker_scales.size());  // trailing groups may be empty
    CHECK(test::differences(report.worker_scales, worker_scales) == 0);
    CHECK(test::differences(report.server_scales, reference.server_scales[rank]) == 0);
    double const worker = reference.worker_error_squared_norm(rank);
    double const server = reference.server_error_squared_norm(rank);
    CHECK(std::abs(report.worker_error_squared_norm - worker) <= 1e-5 * worker);
    CHECK(std::abs(report.server_error_squared_norm - server) <= 1e-5 * server + 1e-10 * worker);
  }
}

}  // namespace

TEST_CASE("the compressed mean equals the reference bit for bit on all ranks") {
  auto const scale = GENERATE(Scale::rms, Scale::mean_magnitude);
  auto const count = GENERATE(Index{0}, 1, 2, 3, 31, 32, 33, 63, 65, 96, 127, 129, 1000, 4096, 12289, 40001);
  compare_with_reference(count, compressing(scale), 11, 6, {});
}

TEST_CASE("the compressed mean of random sizes, masks, magnitudes and scale groups") {
  auto const seed = static_cast<std::uint64_t>(GENERATE(take(40, random(1, 1 << 30))));
  RandomStream stream(seed, Purpose::sketch, 0);
  auto const count = static_cast<Index>(std::exp2(stream.real() * 14));
  auto const groups = static_cast<std::int64_t>(std::exp2(stream.real() * 7));
  double const octaves = stream.real() * 40;
  double const alive = stream.real();
  std::vector<bool> active;
  for (Index k = 0; k < count; ++k) active.push_back(stream.real() < alive);
  auto const scale = stream.real() < 0.5 ? Scale::rms : Scale::mean_magnitude;
  // The first half of the vectors is unmodified; the others contain zeros, subnormals and huge values.
  std::vector<float> factors{1};
  bool const mixed = stream.real() < 0.5;
  for (Index k = 0; mixed && k < count; ++k)
    factors.push_back(std::array{0.0f, 1e-41f, 1e-38f, 1.0f, 1.0f, 1e30f}[static_cast<std::size_t>(stream.real() * 6)]);
  compare_with_reference(count, compressing(scale, groups), seed, octaves, active, factors);
}

TEST_CASE("the compressed mean of zeros, subnormal and huge magnitudes") {
  auto const scale = GENERATE(Scale::rms, Scale::mean_magnitude);
  auto const factor = GENERATE(0.0f, 1e-38f, 1e-41f, 1e30f);
  auto const groups = GENERATE(1, 3);
  compare_with_reference(1000, compressing(scale, groups), 5, 3, {}, {factor});
}

TEST_CASE("the compressed mean of chunks without active elements") {
  auto const scale = GENERATE(Scale::rms, Scale::mean_magnitude);
  auto const groups = GENERATE(1, 5);
  std::vector<bool> active(1000, false);
  SECTION("none at all") { compare_with_reference(1000, compressing(scale, groups), 6, 3, active); }
  SECTION("one element of the last chunk") {
    active[999] = true;
    compare_with_reference(1000, compressing(scale, groups), 7, 3, active);
  }
  SECTION("the first half") {
    for (std::size_t k = 0; k < 500; ++k) active[k] = true;
    compare_with_reference(1000, compressing(scale, groups), 8, 3, active);
  }
}

TEST_CASE("values of masked elements are ignored") {
  auto& group = test::world().communicator();
  std::vector<bool> active(500, true);
  auto inputs = test::random_inputs(group.size(), 500, 3, 2);
  for (std::size_t k = 0; k < 500; k += 7) {
    active[k] = false;
    for (auto& input : inputs) input[k] = k % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : -1e38f;
  }
  Exec const exec;
  CompressedAllreduce mean(group, 500, compressing());
  mean.set_active(exec, test::uploaded(test::packed(active)));
  auto const& mine = inputs[static_cast<std::size_t>(group.rank())];
  auto const first = test::mean_of(mean, exec, mine);
  for (std::size_t k = 0; k < 500; ++k) CHECK((active[k] ? std::abs(first[k]) > 0.1f : first[k] == 0.0f));
  Reference reference(500, static_cast<std::size_t>(group.size()), Scale::mean_magnitude);
  reference.set_active(active);
  reference.mean(inputs);
  CHECK(test::differences(test::mean_of(mean, exec, mine), reference.mean(inputs)) == 0);
}

TEST_CASE("elements can be masked and activated again between means") {
  auto& group = test::world().communicator();
  auto const rank = static_cast<std::size_t>(group.rank());
  Exec const exec;
  CompressedAllreduce mean(group, 700, compressing());
  Reference reference(700, static_cast<std::size_t>(group.size()), Scale::mean_magnitude);
  for (std::uint64_t change = 0; change < 5; ++change) {
    std::vector<bool> active;
    for (Index k = 0; k < 700; ++k) active.push_back(test::random_input(9, k, change, 1) > 0 || change == 4);
    mean.set_active(exec, test::uploaded(test::packed(active)));
    reference.set_active(active);
    for (std::uint64_t call = 0; call < 3; ++call) {
      auto const inputs = test::random_inputs(group.size(), 700, 10 * change + call, 4);
      CHECK(test::differences(test::mean_of(mean, exec, inputs[rank]), reference.mean(inputs)) == 0);
    }
  }
}

TEST_CASE("segments, staging and split messages do not change a bit of the compressed mean") {
  Index const count = 4096 * 3 * test::world().size() + 777;
  auto const groups = GENERATE(1, 6, 1000);
  auto const segment_bytes = GENERATE(std::int64_t{1}, std::int64_t{1024}, std::int64_t{100000});
  comm::MpiOptions how;
  how.staged = segment_bytes == 1024;
  if (how.staged) how.call_limit = 1000;
  auto const plain = comm::make_world_communicator({}), group = comm::make_world_communicator(how);
  CAPTURE(groups, segment_bytes, how.staged);
  auto options = compressing(Scale::rms, groups);
  CompressedAllreduce whole(*plain, count, options);
  options.segment_bytes = segment_bytes;
  CompressedAllreduce cut(*group, count, options);
  Exec const exec;
  for (std::uint64_t call = 0; call < 3; ++call) {
    auto const mine = test::random_vector(group->rank(), count, call, 5);
    auto const before = plain->traffic().calls;
    auto const expected = test::mean_of(whole, exec, mine);
    CHECK(plain->traffic().calls - before == 2);
    CHECK(test::differences(test::mean_of(cut, exec, mine), expected) == 0);
    CHECK(cut.last_traffic().sent_bytes() == whole.last_traffic().sent_bytes());
    CHECK(test::differences(cut.last_report().server_scales, whole.last_report().server_scales) == 0);
    CHECK(cut.last_report().worker_error_squared_norm == whole.last_report().worker_error_squared_norm);
  }
}

TEST_CASE("the bytes of a compressed mean match the formula") {
  for (int const size : {1, 2, 3, 4, 7, 64})
    for (Index const count : {Index{1}, Index{31}, Index{33}, Index{1000}, Index{109514298}}) {
      Index const padded = (count + 32 * size - 1) / (32 * size) * 32 * size;
      CHECK(CompressedAllreduce::predicted_bytes(count, size, 1) == (size - 1) * (padded / size) / 4 + 8 * (size - 1));
    }
  CHECK(CompressedAllreduce::predicted_bytes(0, 4, 1) == 0);

  auto& group = test::world().communicator();
  int const size = group.size();
  // Ranks 0 and 1 share a node, and ranks 2 and 3.
  auto const nodes = group.split(0, group.rank());
  std::vector<int> node_of;
  for (int rank = 0; rank < size; ++rank) node_of.push_back(rank / 2);
  nodes->set_nodes(node_of);
  Exec const exec;
  CompressedAllreduce mean(*nodes, 3000, compressing());
  mean.start(
      exec, KOKKOS_LAMBDA(Index k) { return static_cast<float>(k % 5); });
  // Traffic of other collectives on the same group is not counted.
  std::vector<double> scalars(10);
  nodes->sum_host(scalars, "bellwether::test::scalars");
  mean.finish(exec);
  auto const& traffic = mean.last_traffic();
  CHECK(traffic.sent_bytes() == CompressedAllreduce::predicted_bytes(3000, size, 1));
  CHECK(traffic.worker_bytes == traffic.server_bytes);
  bool const neighbour = group.rank() / 2 * 2 + 1 < size;
  CHECK(traffic.intra_node_bytes == (neighbour ? traffic.sent_bytes() / (size - 1) : 0));
  CHECK(traffic.inter_node_bytes() == traffic.sent_bytes() - traffic.intra_node_bytes);
  if (size > 1) {
    double const against_fp32 =
        static_cast<double>(traffic.dense_fp32_bytes) / static_cast<double>(traffic.sent_bytes());
    CHECK(against_fp32 > 27);
    CHECK(against_fp32 < 33);
    CHECK(traffic.dense_fp32_bytes == 2 * traffic.dense_16bit_bytes);
  }
}

TEST_CASE("a compressed mean allocates nothing after its first run") {
  auto& group = test::world().communicator();
  auto options = compressing(Scale::mean_magnitude, GENERATE(1, 4));
  options.segment_bytes = GENERATE(std::int64_t{512}, std::int64_t{1} << 40);
  options.compress_alone = GENERATE(false, true);
  Exec const exec;
  CompressedAllreduce mean(group, 50000, options);
  Vec<float> const values("bellwether::test::values", 50000);
  test::AllocationWatch watch;
  for (int step = 0; step < 8; ++step) {
    if (step == 3) watch.arm();
    mean.mean(
        exec, KOKKOS_LAMBDA(Index k) { return values(k); });
    mean.last_report();
  }
  auto const seen = watch.disarm();
  INFO(seen.report);
  CHECK(seen.host == 0);
  CHECK(seen.views == 0);
  CHECK(seen.retained <= 0);
}

TEST_CASE("a group of one keeps every value and sends nothing") {
  auto const self = comm::make_self_communicator();
  Exec const exec;
  CompressedAllreduce mean(*self, 1000, {});
  for (std::uint64_t call = 0; call < 3; ++call) {
    auto const inputs = test::random_inputs(1, 1000, call, 10);
    CHECK(test::mean_of(mean, exec, inputs[0]) == inputs[0]);
    CHECK(test::downloaded(mean.worker_signs())[0] >> 31 == (inputs[0][0] >= 0));
  }
  CHECK(self->traffic().calls == 0);
  CHECK(mean.last_traffic().sent_bytes() == 0);
  std::vector<bool> active(1000, true);
  active[5] = false;
  mean.set_active(exec, test::uploaded(test::packed(active)));
  auto const result = test::mean_of(mean, exec, std::vector<float>(1000, 2.0f));
  CHECK(result[4] == 2.0f);
  CHECK(result[5] == 0.0f);
}

TEST_CASE("the compressed mean rejects misuse") {
  auto const self = comm::make_self_communicator();
  Exec const exec;
  auto const zero = KOKKOS_LAMBDA(Index) { return 0.0f; };
  CompressedAllreduce mean(*self, 40, compressing());
  CHECK_THROWS_AS(mean.finish(exec), InternalError);
  CHECK_THROWS_AS(mean.set_active(exec, Vec<std::uint32_t>("bellwether::test::short", 1)), InternalError);
  mean.start(exec, zero);
  CHECK_THROWS_AS(mean.start(exec, zero), InternalError);
  CHECK_THROWS_AS(mean.set_active(exec, Vec<std::uint32_t>("bellwether::test::active", 2)), InternalError);
  mean.finish(exec);
  CHECK_THROWS_AS(CompressedAllreduce(*self, 40, compressing(Scale::rms, 0)), InternalError);
}
