// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective/dense_mean.hpp"
#include "comm/transport/mpi_communicator.hpp"
#include "comm/transport/world.hpp"
#include "core/random/random.hpp"
#include "core/system/error.hpp"
#include "tests/support/vectors.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>

using namespace bellwether;
using bellwether::comm::Allreduce;
using bellwether::comm::Wire;
using test::downloaded;
using test::uploaded;

namespace {

/// Returns inputs whose magnitudes span many octaves, so that the order of a sum affects its last bits.
std::vector<float> input(int rank, Index count) {
  std::vector<float> values;
  for (Index k = 0; k < count; ++k) {
    RandomStream stream(3, Purpose::sketch, static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(rank));
    double const magnitude = std::exp2(stream.real() * 20 - 10);
    values.push_back(static_cast<float>((stream.real() < 0.5 ? -1 : 1) * magnitude));
  }
  return values;
}

bool same_bits(std::vector<float> const& one, std::vector<float> const& other) {
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

Vec<float> part(Vec<float> const& whole, Index first, Index count) {
  return Kokkos::subview(whole, std::pair(first, first + count));
}

/// Returns the mean over ranks in one piece.
std::vector<float> whole_mean(comm::Communicator& group, Index count, Wire wire) {
  Exec const exec;
  comm::DenseMean mean(group, count, wire, Allreduce::ordered);
  auto const vector = uploaded(input(group.rank(), count));
  mean.start(exec, vector);
  mean.wait(exec);
  exec.fence("bellwether::test::result");
  return downloaded(vector);
}

/// Returns the same mean in segments. Each rank advances after different segments, and rank 1 is slow. between: called
/// once, after the first `early` segments.
template <class Between>
std::vector<float> segmented_mean(comm::Communicator& group, std::vector<Index> const& counts, Wire wire,
                                  std::size_t early, Between const& between) {
  Exec const exec;
  comm::SegmentedMean mean(group, counts, wire, Allreduce::ordered);
  auto const mine = input(group.rank(), std::accumulate(counts.begin(), counts.end(), Index{0}));
  std::vector<float> result;
  std::int64_t predicted = 0;
  for (Index const count : counts)
    predicted += comm::DenseMean::predicted_bytes(count, group.rank(), group.size(), wire, Allreduce::ordered);
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto const vector = uploaded(mine);
    auto const before = group.traffic();
    std::int64_t others = 0;
    Index first = 0;
    for (std::size_t s = 0; s <= counts.size(); ++s) {
      if (s == early) {
        others -= group.traffic().sent_bytes;
        between();
        others += group.traffic().sent_bytes;
      }
      if (s == counts.size()) break;
      mean.start(exec, part(vector, first, counts[s]));
      first += counts[s];
      if ((static_cast<int>(s) + group.rank()) % 2 == 0) mean.advance(exec);
      if (group.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    mean.wait(exec);
    exec.fence("bellwether::test::result");
    CHECK(group.traffic().sent_bytes - before.sent_bytes - others == predicted);
    for (auto const& times : mean.times()) CHECK((times.started <= times.summed && times.summed <= times.finished));
    result = downloaded(vector);
  }
  return result;
}

std::vector<std::vector<Index>> const cuts{{10007}, {1, 10006}, {0, 5001, 0, 3, 5003}, {10000, 1, 1, 1, 1, 1, 1, 1}};

}  // namespace

TEST_CASE("segmentation does not change a bit of the mean") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  auto const cut = GENERATE(from_range(cuts));
  auto& group = test::world().communicator();
  auto const result = segmented_mean(group, cut, wire, 0, [] {});
  CHECK(same_bits(result, whole_mean(group, 10007, wire)));
}

TEST_CASE("segmented means work with staging and split messages") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  comm::MpiOptions options;
  options.call_limit = 1000;
  options.piece = GENERATE(300, 1 << 20);
  options.long_message = GENERATE(1, 500, 1 << 20);
  options.staged = true;
  auto const group = comm::make_world_communicator(options);
  CHECK(same_bits(segmented_mean(*group, cuts[2], wire, 0, [] {}), whole_mean(*group, 10007, wire)));
}

TEST_CASE("other collectives may run between segments, at different points on each rank") {
  auto const limit = GENERATE(std::int64_t{1} << 30, std::int64_t{16});
  comm::MpiOptions options;
  options.call_limit = limit;
  options.long_message = GENERATE(1, 1 << 20);
  auto const group = comm::make_world_communicator(options);
  std::vector<Index> const counts(5, 301);
  bool right = true;
  auto const result = segmented_mean(*group, counts, Wire::fp32, static_cast<std::size_t>(group->rank()), [&] {
    std::vector<double> ranks(3, 1.0 + group->rank());
    group->sum_host(ranks, "bellwether::test::between");
    right = right && ranks == std::vector<double>(3, group->size() * (group->size() + 1) / 2.0);
    group->barrier("bellwether::test::between");
  });
  CHECK(right);
  CHECK(same_bits(result, whole_mean(*group, 5 * 301, Wire::fp32)));
}

TEST_CASE("an exception during a segmented mean propagates, and the buffers in use stay allocated") {
  auto& world = test::world().communicator();
  if (world.size() == 1) SKIP("one rank sends nothing");
  auto const group = comm::make_world_communicator({});
  Exec const exec;
  try {
    std::vector<Index> const counts(3, 100000);
    comm::SegmentedMean mean(*group, counts, Wire::fp32, Allreduce::ordered);
    auto const vector = uploaded(input(group->rank(), 300000));
    mean.start(exec, part(vector, 0, 100000));
    mean.advance(exec);
    mean.start(exec, part(vector, 100000, 100000));
    throw std::runtime_error("in between");
  } catch (std::runtime_error const& error) {
    CHECK(std::string(error.what()) == "in between");
  }
  // Everything that was started completes, in memory that is still allocated.
  for (int i = 0; i < 200; ++i) {
    group->progress();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  group->barrier("bellwether::test::all_are_here");
}

TEST_CASE("the segmented mean rejects misuse") {
  auto const self = comm::make_self_communicator();
  Exec const exec;
  std::vector<Index> const counts{2, 1};
  comm::SegmentedMean mean(*self, counts, Wire::fp32, Allreduce::ordered);
  Vec<float> const two("bellwether::test::two", 2), one("bellwether::test::one", 1);
  CHECK_THROWS_AS(mean.start(exec, one), InternalError);
  mean.start(exec, two);
  CHECK_THROWS_AS(mean.wait(exec), InternalError);
  mean.start(exec, one);
  CHECK_THROWS_AS(mean.start(exec, one), InternalError);
  mean.advance(exec);
  mean.wait(exec);
  CHECK(mean.started() == 0);
  CHECK(mean.buffer_bytes() == 0);
}
