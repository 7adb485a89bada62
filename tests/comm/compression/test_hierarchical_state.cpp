// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/comm/compression/node_fixture.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/memory_state.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace bellwether;
using bellwether::comm::HierarchicalAllreduce;
using bellwether::comm::Wire;
using bellwether::test::MemoryState;
using bellwether::test::NodesOf;

namespace {

/// The residuals of a group by element, as a checkpoint stores them for another number of ranks.
struct Residuals {
  std::vector<double> worker;  ///< (n) mean over the ranks that hold the element
  std::vector<double> server;  ///< (n)

  /// Returns the term of the conservation law: both residuals of element k.
  double at(std::size_t k) const { return worker[k] + server[k]; }
};

/// Collects this rank's parts of the residuals.
class Collect final : public StateVisitor {
 public:
  explicit Collect(Index count) : count_(count), parts(4, std::vector<double>(static_cast<std::size_t>(count))) {}
  void array(ArraySpec const& spec, std::span<float> values) override {
    bool const server = spec.placement == Placement::partitioned, whole = spec.placement == Placement::per_rank;
    CHECK(spec.name == (server ? "server_error" : "worker_error"));
    REQUIRE(spec.placement != Placement::replicated);
    if (whole) CHECK(spec.reshard == Reshard::mean);
    CHECK((whole ? static_cast<std::int64_t>(values.size()) : spec.total) == count_);
    add(server ? 2 : 0, values, whole ? 0 : spec.first);
  }
  void scalar(ScalarSpec<std::int64_t> const&, std::int64_t&) override { FAIL("no scalars"); }
  void scalar(ScalarSpec<double> const&, double&) override { FAIL("no scalars"); }

 private:
  /// Adds the values to one part and counts them in the next part.
  void add(std::size_t part, std::span<float> slice, std::int64_t first) {
    std::vector<float> host(slice.size());
    Kokkos::deep_copy(Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host.data(), host.size()),
                      Kokkos::View<float*, Mem, Kokkos::MemoryUnmanaged>(slice.data(), slice.size()));
    for (std::size_t k = 0; k < host.size(); ++k) {
      parts[part][static_cast<std::size_t>(first) + k] += static_cast<double>(host[k]);
      parts[part + 1][static_cast<std::size_t>(first) + k] += 1;
    }
  }
  Index count_;

 public:
  std::vector<std::vector<double>> parts;
};

Residuals residuals_of(HierarchicalAllreduce& mean, comm::Communicator& group, Index count) {
  Collect collect(count);
  mean.visit_state(collect);
  for (auto& part : collect.parts) group.sum_host(part, "bellwether::test::residuals");
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    REQUIRE(collect.parts[1][k] > 0);
    collect.parts[0][k] /= collect.parts[1][k];
    // A single rank that does not compress still writes a server residual, of zeros.
    REQUIRE(collect.parts[3][k] == 1);
  }
  return {collect.parts[0], collect.parts[2]};
}

/// Returns residuals by element, like the reader of a checkpoint after a change of partition.
class Resharding final : public StateVisitor {
 public:
  explicit Resharding(Residuals const& kept) : kept_(kept) {}
  void array(ArraySpec const& spec, std::span<float> values) override {
    REQUIRE(spec.placement != Placement::replicated);
    put(spec.placement == Placement::partitioned ? kept_.server : kept_.worker, values, spec.first);
  }
  void scalar(ScalarSpec<std::int64_t> const&, std::int64_t&) override { FAIL("no scalars"); }
  void scalar(ScalarSpec<double> const&, double&) override { FAIL("no scalars"); }

 private:
  static void put(std::vector<double> const& from, std::span<float> to, std::int64_t first) {
    auto const begin = from.begin() + first;
    std::vector<float> const values(begin, begin + static_cast<std::int64_t>(to.size()));
    Kokkos::deep_copy(Kokkos::View<float*, Mem, Kokkos::MemoryUnmanaged>(to.data(), to.size()),
                      Kokkos::View<float const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), to.size()));
  }
  Residuals const& kept_;
};

/// Adds the mean inputs minus the outputs of `calls` means to `law`, in double.
void run(HierarchicalAllreduce& mean, comm::Communicator& all, int calls, std::uint64_t seed,
         std::vector<double>& law) {
  Exec const exec;
  for (int call = 0; call < calls; ++call) {
    auto const mine = test::random_vector(all.rank(), static_cast<Index>(law.size()),
                                          seed + static_cast<std::uint64_t>(call % 20), 4);
    auto const out = test::mean_of(mean, exec, mine);
    std::vector<double> sum(mine.begin(), mine.end());
    all.sum_host(sum, "bellwether::test::inputs");
    for (std::size_t k = 0; k < law.size(); ++k) law[k] += sum[k] / all.size() - static_cast<double>(out[k]);
  }
}

/// Returns all pairs of a number of ranks and a number of ranks per node that divides it.
std::vector<std::pair<int, int>> hierarchies() {
  std::vector<std::pair<int, int>> all;
  for (int ranks = 1; ranks <= test::world().size(); ++ranks)
    for (int here = 1; here <= ranks; ++here)
      if (ranks % here == 0) all.emplace_back(ranks, here);
  return all;
}

/// Broadcasts rank 0's values to all ranks.
void take_from_rank_0(std::vector<double>& values) {
  auto& world = test::world().communicator();
  if (world.rank() != 0) std::ranges::fill(values, 0.0);
  world.sum_host(values, "bellwether::test::kept");
}

double broken(std::vector<double> const& law, Residuals const& held) {
  double largest = 0;
  for (std::size_t k = 0; k < law.size(); ++k) largest = test::larger(largest, law[k] - held.at(k));
  return largest;
}

}  // namespace

TEST_CASE("O3: outputs plus residuals of hierarchical means equal the inputs") {
  Index const count = 300;
  int const steps = 1000;
  comm::CompressionOptions options;
  options.scale = GENERATE(comm::Scale::rms, comm::Scale::mean_magnitude);
  for (int const here : test::divisors_of_world()) {
    NodesOf const nodes(here);
    HierarchicalAllreduce mean(*nodes.all, nodes.groups.get(), count, options, Wire::fp32);
    std::vector<double> law(static_cast<std::size_t>(count));
    run(mean, *nodes.all, steps, 100, law);
    auto const held = residuals_of(mean, *nodes.all, count);
    CAPTURE(here);
    // The root mean square of the inputs is near 0.4.
    CHECK(broken(law, held) <= 4e-7 * steps * 0.4);
    double largest = 0;
    for (std::size_t k = 0; k < law.size(); ++k) largest = test::larger(largest, held.at(k));
    CHECK((largest > 0.01) == (nodes.nodes > 1));
  }
}

TEST_CASE("a skipped hierarchical mean does not change the state") {
  Index const count = 700;
  Exec const exec;
  Vec<std::int32_t> const skip("bellwether::test::skip", 1);
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  for (int const here : test::divisors_of_world()) {
    NodesOf const nodes(here);
    HierarchicalAllreduce mean(*nodes.all, nodes.groups.get(), count, {}, wire);
    HierarchicalAllreduce undisturbed(*nodes.all, nodes.groups.get(), count, {}, wire);
    auto const mine = [&](std::uint64_t call) { return test::random_vector(nodes.all->rank(), count, call, 5); };
    for (std::uint64_t call = 0; call < 3; ++call) {
      test::mean_of(mean, exec, mine(call), skip.data());
      test::mean_of(undisturbed, exec, mine(call), skip.data());
    }
    MemoryState before, after;
    undisturbed.visit_state(before);
    Kokkos::deep_copy(exec, skip, 1);
    auto bad = mine(3);
    if (nodes.all->rank() == 0) std::fill(bad.begin() + 100, bad.begin() + 400, std::nanf(""));
    test::mean_of(mean, exec, bad, skip.data());
    test::mean_of(mean, exec, bad, skip.data());
    Kokkos::deep_copy(exec, skip, 0);
    exec.fence("bellwether::test::skipped");
    mean.visit_state(after);
    CHECK(after.arrays == before.arrays);
    CHECK(test::differences(test::mean_of(mean, exec, mine(4), skip.data()),
                            test::mean_of(undisturbed, exec, mine(4), skip.data())) == 0);
  }
}

TEST_CASE("saving and restoring hierarchical state does not change a bit of later means") {
  Index const count = 5003;
  comm::CompressionOptions options;
  options.scale_groups = GENERATE(1, 4);
  std::vector<bool> active;
  for (Index k = 0; k < count; ++k) active.push_back(k % 5 != 3 && k / 100 != 7);
  auto const words = test::uploaded(test::packed(active));
  Exec const exec;
  for (int const here : test::divisors_of_world()) {
    NodesOf const nodes(here);
    HierarchicalAllreduce whole(*nodes.all, nodes.groups.get(), count, options, Wire::fp32);
    HierarchicalAllreduce saved(*nodes.all, nodes.groups.get(), count, options, Wire::fp32);
    HierarchicalAllreduce restored(*nodes.all, nodes.groups.get(), count, options, Wire::fp32);
    for (auto* const mean : {&whole, &saved, &restored}) mean->set_active(exec, words);
    MemoryState state;
    for (std::uint64_t call = 0; call < 6; ++call) {
      auto const mine = test::random_vector(nodes.all->rank(), count, call, 6);
      auto const expected = test::mean_of(whole, exec, mine);
      CHECK(test::differences(test::mean_of(saved, exec, mine), expected) == 0);
      if (call > 2) CHECK(test::differences(test::mean_of(restored, exec, mine), expected) == 0);
      if (call != 2) continue;
      state.direction = MemoryState::Direction::save;
      saved.visit_state(state);
      CHECK(static_cast<Index>(state.arrays.at("worker_error").size()) == saved.slice_count());
      state.direction = MemoryState::Direction::load;
      restored.visit_state(state);
    }
  }
}

TEST_CASE("residuals are conserved by element for another hierarchy") {
  Index const count = 1501;
  for (int const before : test::divisors_of_world())
    for (int const after : test::divisors_of_world()) {
      CAPTURE(before, after);
      NodesOf const old_nodes(before), new_nodes(after);
      std::vector<double> law(static_cast<std::size_t>(count));
      // Includes changes from and to an exchange without nodes.
      HierarchicalAllreduce from(*old_nodes.all, before == 1 ? nullptr : old_nodes.groups.get(), count, {}, Wire::fp32);
      HierarchicalAllreduce to(*new_nodes.all, after == 1 ? nullptr : new_nodes.groups.get(), count, {}, Wire::fp32);
      run(from, *old_nodes.all, 5, 10, law);
      auto const kept = residuals_of(from, *old_nodes.all, count);
      CHECK(broken(law, kept) < 5e-6);
      Resharding reader(kept);
      to.visit_state(reader);
      run(to, *new_nodes.all, 5, 50, law);
      CHECK(broken(law, residuals_of(to, *new_nodes.all, count)) < 1e-5);
    }
}

TEST_CASE("residuals are conserved by element for another number of ranks and nodes") {
  Index const count = 1501;
  auto const size = static_cast<std::size_t>(count);
  auto& world = test::world().communicator();
  // The first `ranks` ranks of the world work; the others wait.
  auto const first_ranks = [&](int ranks, int here) {
    auto group = world.split(world.rank() < ranks ? 0 : 1, world.rank());
    return world.rank() < ranks ? std::make_unique<NodesOf>(std::move(group), here) : nullptr;
  };
  auto const mean_of = [&](NodesOf const& of) {
    return HierarchicalAllreduce(*of.all, of.here == 1 ? nullptr : of.groups.get(), count, {}, Wire::fp32);
  };
  for (auto const& [ranks_before, before] : hierarchies()) {
    std::vector<double> law(size);
    Residuals kept{std::vector<double>(size), std::vector<double>(size)};
    if (auto const old_nodes = first_ranks(ranks_before, before)) {
      auto from = mean_of(*old_nodes);
      run(from, *old_nodes->all, 5, 10, law);
      kept = residuals_of(from, *old_nodes->all, count);
      CHECK(broken(law, kept) < 5e-6);
    }
    for (auto* const values : {&law, &kept.worker, &kept.server}) take_from_rank_0(*values);
    for (auto const& [ranks_after, after] : hierarchies()) {
      if (std::max(ranks_before, ranks_after) < world.size()) continue;  // covered with a smaller world
      CAPTURE(ranks_before, before, ranks_after, after);
      auto const new_nodes = first_ranks(ranks_after, after);
      if (!new_nodes) continue;
      auto to = mean_of(*new_nodes);
      Resharding reader(kept);
      to.visit_state(reader);
      auto later = law;
      run(to, *new_nodes->all, 5, 50, later);
      auto const held = residuals_of(to, *new_nodes->all, count);
      CHECK(broken(later, held) < 1e-5);
      double largest = 0;
      for (std::size_t k = 0; k < size; ++k) largest = test::larger(largest, held.at(k));
      CHECK((largest > 0.01) == (new_nodes->nodes > 1));
    }
  }
}
