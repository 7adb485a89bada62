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
#include <string>
#include <vector>

using namespace bellwether;
using bellwether::comm::CompressedAllreduce;
using bellwether::comm::CompressionOptions;
using bellwether::test::MemoryState;

namespace {

constexpr Index count = 5003;

/// Complete residuals, as a checkpoint stores them for another number of ranks.
struct Residuals {
  std::vector<double> worker;  ///< (n) the mean over ranks
  std::vector<double> server;  ///< (n)
};

/// Returns residuals for any number of ranks, like the reader of a checkpoint.
class ReshardState final : public StateVisitor {
 public:
  explicit ReshardState(Residuals const& kept) : kept_(kept) {}
  void array(ArraySpec const& spec, std::span<float> values) override {
    bool const server = spec.placement == Placement::partitioned;
    CHECK(spec.name == (server ? "server_error" : "worker_error"));
    if (server) {
      CHECK(spec.total == ::count);
      return put(kept_.server, spec.first, values);
    }
    REQUIRE(spec.placement == Placement::per_rank);
    CHECK(spec.reshard == Reshard::mean);
    CHECK(values.size() == ::count);
    put(kept_.worker, 0, values);
  }
  void scalar(ScalarSpec<std::int64_t> const&, std::int64_t&) override { FAIL("no scalar state is expected"); }
  void scalar(ScalarSpec<double> const&, double&) override { FAIL("no scalar state is expected"); }

 private:
  static void put(std::vector<double> const& from, std::int64_t first, std::span<float> to) {
    auto const begin = from.begin() + first;
    std::vector<float> const values(begin, begin + static_cast<std::int64_t>(to.size()));
    Kokkos::deep_copy(Kokkos::View<float*, Mem, Kokkos::MemoryUnmanaged>(to.data(), to.size()),
                      Kokkos::View<float const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), to.size()));
  }
  Residuals const& kept_;
};

Index chunk_first(comm::Communicator& group) {
  return comm::CompressedLayout(count, group.rank(), group.size(), 1, 1 << 30).first;
}

std::vector<float> input(comm::Communicator& group, std::uint64_t call) {
  return test::random_vector(group.rank(), count, 50 + call, 6);
}

/// Returns both residuals after several means of the first `ranks` ranks, on all ranks of the world. Collective.
Residuals residuals_of(int ranks) {
  auto& world = test::world().communicator();
  bool const takes_part = world.rank() < ranks;
  auto const group = world.split(takes_part ? 0 : 1, world.rank());
  Residuals all{std::vector<double>(count), std::vector<double>(count)};
  if (takes_part) {
    CompressionOptions options;
    options.compress_alone = true;
    CompressedAllreduce mean(*group, count, options);
    for (std::uint64_t call = 0; call < 3; ++call) test::mean_of(mean, Exec(), input(*group, call));
    MemoryState state;
    mean.visit_state(state);
    auto const& worker = state.arrays.at("worker_error");
    auto const& server = state.arrays.at("server_error");
    auto const first = static_cast<std::size_t>(chunk_first(*group));
    for (std::size_t k = 0; k < worker.size(); ++k) all.worker[k] = static_cast<double>(worker[k]) / ranks;
    for (std::size_t k = 0; k < server.size(); ++k) all.server[first + k] = static_cast<double>(server[k]);
  }
  world.sum_host(all.worker, "bellwether::test::residuals");
  world.sum_host(all.server, "bellwether::test::residuals");
  return all;
}

}  // namespace

TEST_CASE("writing or reading a checkpoint does not change a bit of later means") {
  auto& group = test::world().communicator();
  CompressionOptions options;
  options.scale = GENERATE(comm::Scale::rms, comm::Scale::mean_magnitude);
  options.scale_groups = GENERATE(1, 4);
  options.compress_alone = GENERATE(false, true);
  std::vector<bool> active;
  for (Index k = 0; k < count; ++k) active.push_back(k % 5 != 3 && k / 100 != 7);
  auto const words = test::uploaded(test::packed(active));
  Exec const exec;
  CompressedAllreduce plain(group, count, options);
  CompressedAllreduce saved(group, count, options);
  CompressedAllreduce restored(group, count, options);
  for (auto* const mean : {&plain, &saved, &restored}) mean->set_active(exec, words);
  MemoryState state;
  for (std::uint64_t call = 0; call < 6; ++call) {
    auto const expected = test::mean_of(plain, exec, input(group, call));
    CHECK(test::differences(test::mean_of(saved, exec, input(group, call)), expected) == 0);
    if (call > 2) CHECK(test::differences(test::mean_of(restored, exec, input(group, call)), expected) == 0);
    if (call == 2) {
      state.direction = MemoryState::Direction::save;
      saved.visit_state(state);
      state.direction = MemoryState::Direction::load;
      restored.visit_state(state);
    }
  }
  // The stored values are the residuals themselves: those of masked elements are 0.
  state.direction = MemoryState::Direction::save;
  saved.visit_state(state);
  auto const& error = state.arrays.at("worker_error");
  double squares = 0;
  for (std::size_t k = 0; k < error.size(); ++k) {
    if (!active[k]) CHECK(error[k] == 0.0f);
    squares += static_cast<double>(error[k]) * static_cast<double>(error[k]);
  }
  double const reported = saved.last_report().worker_error_squared_norm;
  CHECK(std::abs(squares - reported) <= 1e-6 * squares);
  CHECK((squares > 0) == (group.size() > 1 || options.compress_alone));
  auto const twice = state.arrays;
  saved.visit_state(state);
  CHECK(state.arrays == twice);
}

TEST_CASE("residuals are conserved by element for another number of ranks") {
  auto& world = test::world().communicator();
  int const ranks_before = GENERATE(1, 2, 3, 4), ranks_after = GENERATE(1, 2, 3, 4);
  if (std::max(ranks_before, ranks_after) > world.size()) return;
  CAPTURE(ranks_before, ranks_after);
  Exec const exec;
  auto const kept = residuals_of(ranks_before);

  // Each group of `ranks_after` ranks continues separately; leftover ranks do not take part.
  int const color = world.rank() / ranks_after;
  auto const group = world.split(color, world.rank());
  if (group->size() != ranks_after) return;
  CompressedAllreduce after(*group, count, {});
  ReshardState reader(kept);
  after.visit_state(reader);
  std::vector<double> law;
  for (std::size_t k = 0; k < kept.worker.size(); ++k) law.push_back(kept.worker[k] + kept.server[k]);
  int const calls = ranks_after == 1 ? 1 : 5;
  for (std::uint64_t call = 0; call < static_cast<std::uint64_t>(calls); ++call) {
    auto const out = test::mean_of(after, exec, input(*group, call));
    std::vector<double> mean;
    for (float const value : input(*group, call)) mean.push_back(static_cast<double>(value) / ranks_after);
    group->sum_host(mean, "bellwether::test::mean");
    for (std::size_t k = 0; k < law.size(); ++k) law[k] += mean[k] - static_cast<double>(out[k]);
  }
  MemoryState state;
  after.visit_state(state);
  std::vector<double> held(law.size());
  auto const& worker = state.arrays.at("worker_error");
  auto const& server = state.arrays.at("server_error");
  auto const first = static_cast<std::size_t>(chunk_first(*group));
  for (std::size_t k = 0; k < worker.size(); ++k) held[k] += static_cast<double>(worker[k]) / ranks_after;
  for (std::size_t k = 0; k < server.size(); ++k) held[first + k] += static_cast<double>(server[k]);
  group->sum_host(held, "bellwether::test::residuals");
  double broken = 0;
  double largest = 0;
  for (std::size_t k = 0; k < law.size(); ++k) {
    broken = test::larger(broken, law[k] - held[k]);
    largest = test::larger(largest, held[k]);
  }
  CHECK(broken < 5e-6);
  // A group of one adds the whole residual to its first mean.
  CHECK((largest == 0) == (ranks_after == 1));
}
