// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective/dense_mean.hpp"
#include "comm/transport/mpi_communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/random/random.hpp"
#include "core/simd/bf16.hpp"
#include "core/system/error.hpp"
#include "tests/support/vectors.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_random.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace bellwether;
using bellwether::comm::Allreduce;
using bellwether::comm::Wire;

namespace {

/// Returns element k of a rank's vector. Magnitudes span many octaves, so that the order of a sum
/// affects its last bits.
float input(int rank, Index k, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::sketch, static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(rank));
  double const magnitude = std::exp2(stream.real() * 20 - 10);
  return static_cast<float>((stream.real() < 0.5 ? -1 : 1) * magnitude);
}

/// Reference result of DenseMean on the host, element by element.
float expected(int ranks, Wire wire, std::vector<float> const& of_rank) {
  auto const carried = [&](float value) { return wire == Wire::bf16 ? float(bf16(value)) : value; };
  if (ranks == 1) return of_rank[0];
  float sum = carried(of_rank[0]);
  for (int rank = 1; rank < ranks; ++rank) sum += carried(of_rank[static_cast<std::size_t>(rank)]);
  return carried(sum / static_cast<float>(ranks));
}

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

using test::downloaded;
using test::uploaded;

/// Checks that all ranks have rank 0's result, bit for bit.
bool equal_on_all_ranks(comm::Communicator& group, std::vector<float> const& mine) {
  std::vector<float> of_first = mine;
  group.broadcast_host(std::as_writable_bytes(std::span(of_first)), 0, "bellwether::test::compare");
  std::vector<double> differences(1, 0.0);
  for (std::size_t k = 0; k < mine.size(); ++k)
    differences[0] += std::bit_cast<std::uint32_t>(of_first[k]) != std::bit_cast<std::uint32_t>(mine[k]);
  group.sum_host(differences, "bellwether::test::compare");
  return differences[0] == 0;
}

void check_mean(comm::Communicator& group, Index longest, Index count, Wire wire, std::uint64_t seed) {
  CAPTURE(longest, count, int(wire), seed);
  std::vector<float> mine;
  for (Index k = 0; k < count; ++k) mine.push_back(input(group.rank(), k, seed));
  Exec const exec;
  comm::DenseMean mean(group, longest, wire, Allreduce::ordered);
  auto const vector = uploaded(mine);
  auto const before = group.traffic().sent_bytes;
  mean.start(exec, vector);
  mean.wait(exec);
  exec.fence("bellwether::test::result");
  CHECK(group.traffic().sent_bytes - before ==
        comm::DenseMean::predicted_bytes(count, group.rank(), group.size(), wire, Allreduce::ordered));
  auto const result = downloaded(vector);
  bool right = true;
  for (Index k = 0; k < count; ++k) {
    std::vector<float> of_rank;
    for (int rank = 0; rank < group.size(); ++rank) of_rank.push_back(input(rank, k, seed));
    right = right && same_bits(result[static_cast<std::size_t>(k)], expected(group.size(), wire, of_rank));
  }
  CHECK(right);
  CHECK(equal_on_all_ranks(group, result));
}

}  // namespace

TEST_CASE("the dense mean equals the host reference bit for bit on all ranks") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  auto const count = GENERATE(Index{0}, 1, 2, 3, 4, 5, 7, 100, 4099, 65537);
  check_mean(test::world().communicator(), count, count, wire, 5);
}

TEST_CASE("the dense mean accepts vectors shorter than its capacity") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  auto const count = GENERATE(take(20, random(0, 3000)));
  auto const seed = GENERATE(take(1, random(1, 1 << 30)));
  check_mean(test::world().communicator(), 3000, count, wire, static_cast<std::uint64_t>(seed));
}

TEST_CASE("the dense mean does not depend on message splitting or staging") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  comm::MpiOptions options;
  options.call_limit = 1000;
  options.staged = true;
  auto const group = comm::make_world_communicator(options);
  check_mean(*group, 10007, 10007, wire, 6);
}

TEST_CASE("the mean of equal vectors equals that vector") {
  auto& group = test::world().communicator();
  std::vector<float> values;
  for (Index k = 0; k < 1000; ++k) values.push_back(std::round(input(0, k, 9) * 1024));
  Exec const exec;
  comm::DenseMean mean(group, 1000, Wire::fp32, Allreduce::ordered);
  auto const vector = uploaded(values);
  mean.start(exec, vector);
  mean.wait(exec);
  CHECK(downloaded(vector) == values);
}

TEST_CASE("NaN and infinity reach every rank") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  auto& group = test::world().communicator();
  float const infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values(9, 1.0f);
  if (group.rank() == group.size() - 1) {
    values[0] = std::numeric_limits<float>::quiet_NaN();
    values[4] = infinity;
    values[8] = -infinity;
    values[5] = std::bit_cast<float>(0x7f800001u);
  }
  Exec const exec;
  comm::DenseMean mean(group, 9, wire, Allreduce::ordered);
  auto const vector = uploaded(values);
  mean.start(exec, vector);
  mean.wait(exec);
  auto const result = downloaded(vector);
  CHECK(std::isnan(result[0]));
  CHECK(result[1] == 1.0f);
  CHECK(result[4] == infinity);
  CHECK(std::isnan(result[5]));
  CHECK(result[8] == -infinity);
}

TEST_CASE("a group of one does not change the vector for either wire type") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  auto const self = comm::make_self_communicator();
  check_mean(*self, 100, 100, wire, 7);
  CHECK(self->traffic().calls <= 2);  // only those of the comparison above
  CHECK(comm::DenseMean(*self, 100, wire, Allreduce::ordered).buffer_bytes() == 0);
}

TEST_CASE("the library's mean equals the reference and rejects bf16") {
  auto& group = test::world().communicator();
  CHECK_THROWS_AS(comm::DenseMean(group, 1, Wire::bf16, Allreduce::library), InputError);
  std::vector<float> values;
  for (int k = 0; k < 100; ++k) values.push_back(static_cast<float>(k * (group.rank() + 1)));
  Exec const exec;
  comm::DenseMean mean(group, 100, Wire::fp32, Allreduce::library);
  auto const vector = uploaded(values);
  auto const before = group.traffic().sent_bytes;
  mean.start(exec, vector);
  mean.wait(exec);
  CHECK(group.traffic().sent_bytes - before ==
        comm::DenseMean::predicted_bytes(100, group.rank(), group.size(), Wire::fp32, Allreduce::library));
  auto const result = downloaded(vector);
  float const ranks = static_cast<float>(group.size());
  for (int k = 0; k < 100; ++k)
    CHECK(result[static_cast<std::size_t>(k)] == static_cast<float>(k) * ranks * (ranks + 1) / 2 / ranks);
}

TEST_CASE("all ranks together send as many bytes as a ring") {
  for (int const size : {1, 2, 3, 4, 7})
    for (Index const count : {Index{0}, Index{1}, Index{5}, Index{1000003}}) {
      std::int64_t total = 0;
      for (int rank = 0; rank < size; ++rank)
        total += comm::DenseMean::predicted_bytes(count, rank, size, Wire::fp32, Allreduce::ordered);
      CHECK(total == 2 * 4 * count * (size - 1));
    }
}

TEST_CASE("the dense mean rejects misuse") {
  auto const self = comm::make_self_communicator();
  Exec const exec;
  comm::DenseMean mean(*self, 3, Wire::fp32, Allreduce::ordered);
  CHECK_THROWS_AS(mean.wait(exec), InternalError);
  CHECK_THROWS_AS(mean.start(exec, Vec<float>("bellwether::test::long", 4)), InternalError);
  mean.start(exec, Vec<float>("bellwether::test::short", 3));
  CHECK_THROWS_AS(mean.start(exec, Vec<float>("bellwether::test::short", 3)), InternalError);
  mean.wait(exec);
}
