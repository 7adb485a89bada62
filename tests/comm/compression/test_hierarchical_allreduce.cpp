// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/comm/compression/node_fixture.hpp"
#include "tests/support/allocation_watch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_random.hpp>

#include <cmath>
#include <limits>

using namespace bellwether;
using bellwether::comm::CompressedAllreduce;
using bellwether::comm::CompressionOptions;
using bellwether::comm::HierarchicalAllreduce;
using bellwether::comm::Scale;
using bellwether::comm::Wire;
using bellwether::test::NodesOf;

namespace {

/// Compares several means of random inputs with the reference, bit by bit, and their bytes with the prediction.
void compare_with_reference(NodesOf const& nodes, Index count, CompressionOptions const& options, Wire wire,
                            std::uint64_t seed, double octaves, std::vector<bool> const& active) {
  auto& all = *nodes.all;
  CAPTURE(nodes.here, nodes.nodes, count, int(options.scale), options.scale_groups, int(wire), seed);
  Exec const exec;
  HierarchicalAllreduce mean(all, nodes.groups.get(), count, options, wire);
  test::HierarchicalReference reference(count, nodes.here, nodes.nodes, options, wire);
  if (!active.empty()) {
    reference.set_active(active);
    mean.set_active(exec, test::uploaded(test::packed(active)));
  }
  auto const predicted = HierarchicalAllreduce::predicted_traffic(all, nodes.groups.get(), count, options, wire);
  CHECK(mean.buffer_bytes() ==
        HierarchicalAllreduce::predicted_buffer_bytes(all, nodes.groups.get(), count, options, wire));
  for (std::uint64_t call = 0; call < 3; ++call) {
    auto const inputs = test::random_inputs(all.size(), count, seed + call, octaves);
    auto const result = test::mean_of(mean, exec, inputs[static_cast<std::size_t>(all.rank())]);
    CHECK(test::differences(result, reference.mean(inputs)) == 0);
    CHECK(test::equal_on_all_ranks(all, result));
    auto const& traffic = mean.last_traffic();
    CHECK(traffic.worker_bytes == predicted.worker_bytes);
    CHECK(traffic.server_bytes == predicted.server_bytes);
    CHECK(traffic.node_bytes == predicted.node_bytes);
    CHECK(traffic.intra_node_bytes == predicted.intra_node_bytes);
    CHECK(traffic.dense_fp32_bytes == predicted.dense_fp32_bytes);
    CHECK(traffic.dense_16bit_bytes == predicted.dense_16bit_bytes);
    if (nodes.nodes > 1)
      CHECK(test::downloaded(mean.worker_signs()) == test::packed(reference.worker_signs(nodes.place(), nodes.node())));
  }
}

}  // namespace

TEST_CASE("the hierarchical mean equals the reference bit for bit on all ranks") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  auto const count = GENERATE(Index{0}, 1, 31, 33, 64, 65, 97, 1000, 12289);
  CompressionOptions options;
  options.scale = count % 2 == 0 ? Scale::rms : Scale::mean_magnitude;
  for (int const here : test::divisors_of_world())
    compare_with_reference(NodesOf(here), count, options, wire, 21, 6, {});
}

TEST_CASE("the hierarchical mean of random sizes, masks and scale groups") {
  auto const seed = static_cast<std::uint64_t>(GENERATE(take(12, random(1, 1 << 30))));
  RandomStream stream(seed, Purpose::sketch, 0);
  auto const count = static_cast<Index>(std::exp2(stream.real() * 14));
  CompressionOptions options;
  options.scale_groups = static_cast<std::int64_t>(std::exp2(stream.real() * 7));
  options.scale = stream.real() < 0.5 ? Scale::rms : Scale::mean_magnitude;
  double const octaves = stream.real() * 40, alive = stream.real();
  std::vector<bool> active;
  for (Index k = 0; k < count; ++k) active.push_back(stream.real() < alive);
  auto const wire = stream.real() < 0.5 ? Wire::fp32 : Wire::bf16;
  for (int const here : test::divisors_of_world())
    compare_with_reference(NodesOf(here), count, options, wire, seed, octaves, active);
}

TEST_CASE("with one rank per node, or no hierarchy, the exchange covers all ranks directly") {
  NodesOf const nodes(1);
  CompressionOptions options;
  options.scale_groups = GENERATE(1, 5);
  Exec const exec;
  CompressedAllreduce flat(*nodes.all, 5000, options);
  HierarchicalAllreduce through(*nodes.all, nodes.groups.get(), 5000, options, Wire::bf16);
  HierarchicalAllreduce none(*nodes.all, nullptr, 5000, options, Wire::bf16);
  for (std::uint64_t call = 0; call < 4; ++call) {
    auto const mine = test::random_vector(nodes.all->rank(), 5000, call, 5);
    auto const expected = test::mean_of(flat, exec, mine);
    for (auto* const mean : {&through, &none}) {
      CHECK(test::differences(test::mean_of(*mean, exec, mine), expected) == 0);
      CHECK(mean->last_traffic().sent_bytes() == flat.last_traffic().sent_bytes());
      CHECK(mean->last_traffic().intra_node_bytes == 0);
      CHECK(mean->last_traffic().dense_fp32_bytes == flat.last_traffic().dense_fp32_bytes);
      CHECK(mean->last_report().server_scales == flat.last_report().server_scales);
      CHECK(mean->slice_count() == 5000);
    }
  }
}

TEST_CASE("without error feedback every hierarchical mean gives the result of the first") {
  CompressionOptions options{.scale = GENERATE(Scale::rms, Scale::mean_magnitude)};
  for (int const here : test::divisors_of_world()) {
    NodesOf const nodes(here);
    auto const through = [&](bool feedback) {
      options.error_feedback = feedback;
      return std::make_unique<HierarchicalAllreduce>(*nodes.all, nodes.groups.get(), 999, options, Wire::fp32);
    };
    Exec const exec;
    auto const forgetful = through(false);
    for (std::uint64_t call = 0; call < 3; ++call) {
      auto const mine = test::random_vector(nodes.all->rank(), 999, 5 + call, 3);
      CHECK(test::mean_of(*forgetful, exec, mine) == test::mean_of(*through(true), exec, mine));
    }
  }
}

TEST_CASE("the mean of a node with equal values equals these values") {
  auto const magnitude = GENERATE(0.5f, 0.3f);
  for (int const here : test::divisors_of_world()) {
    NodesOf const nodes(here);
    std::vector<float> values;
    for (Index k = 0; k < 999; ++k) values.push_back(test::random_input(0, k, 4, 1) < 0 ? -magnitude : magnitude);
    Exec const exec;
    HierarchicalAllreduce mean(*nodes.all, nodes.groups.get(), 999, {}, Wire::fp32);
    // In bf16, sums of 0.3 are rounded; sums of 0.5 are exact.
    auto const result = test::mean_of(mean, exec, values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      REQUIRE(std::abs(result[k] - values[k]) <= 3e-7f * magnitude);
      if (magnitude == 0.5f) REQUIRE(result[k] == values[k]);
    }
  }
}

TEST_CASE("inter-node and intra-node bytes match the formula") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  for (int const here : test::divisors_of_world()) {
    NodesOf const nodes(here);
    std::int64_t const L = here, Q = nodes.nodes, n = 32 * L * Q * 10, w = wire == Wire::fp32 ? 4 : 2;
    Exec const exec;
    HierarchicalAllreduce mean(*nodes.all, nodes.groups.get(), n, {}, wire);
    test::mean_of(mean, exec, std::vector<float>(static_cast<std::size_t>(n), 1.0f));
    auto const& traffic = mean.last_traffic();
    CAPTURE(L, Q, w);
    CHECK(traffic.inter_node_bytes() == (Q - 1) * n / (4 * L * Q) + 8 * (Q - 1));
    if (Q > 1)
      CHECK(traffic.intra_node_bytes == (L - 1) * (w * n + n / 8) / L + 4 * Q * (L - 1));
    else
      CHECK(traffic.intra_node_bytes == (L - 1) * (w * n + 4 * n) / L);
    CHECK(traffic.worker_bytes == traffic.server_bytes);
    CHECK(traffic.node_bytes == traffic.intra_node_bytes);
  }
}

TEST_CASE("intra-node bytes are also counted without a hierarchy") {
  for (int const here : test::divisors_of_world()) {
    NodesOf const nodes(here);
    Exec const exec;
    HierarchicalAllreduce mean(*nodes.all, nullptr, 3000, {}, Wire::fp32);
    test::mean_of(mean, exec, std::vector<float>(3000, 1.0f));
    int const others = nodes.all->size() - 1;
    if (others == 0) continue;
    CHECK(mean.last_traffic().intra_node_bytes == mean.last_traffic().sent_bytes() / others * (here - 1));
    auto const predicted = HierarchicalAllreduce::predicted_traffic(*nodes.all, nullptr, 3000, {}, Wire::fp32);
    CHECK(predicted.sent_bytes() == mean.last_traffic().sent_bytes());
    CHECK(predicted.intra_node_bytes == mean.last_traffic().intra_node_bytes);
  }
}

TEST_CASE("segments, staging and split messages do not change a bit of the hierarchical mean") {
  CompressionOptions options;
  options.scale_groups = GENERATE(1, 6);
  for (int const here : test::divisors_of_world()) {
    NodesOf const plain(here);
    NodesOf const other(here, {.timeout = 60, .call_limit = 1000, .staged = true});
    Index const count = 4096 * 3 * plain.all->size() + 777;
    options.segment_bytes = CompressionOptions().segment_bytes;
    HierarchicalAllreduce whole(*plain.all, plain.groups.get(), count, options, Wire::fp32);
    options.segment_bytes = 512;
    HierarchicalAllreduce cut(*other.all, other.groups.get(), count, options, Wire::fp32);
    Exec const exec;
    for (std::uint64_t call = 0; call < 3; ++call) {
      auto const mine = test::random_vector(plain.all->rank(), count, call, 5);
      CHECK(test::differences(test::mean_of(cut, exec, mine), test::mean_of(whole, exec, mine)) == 0);
      CHECK(cut.last_traffic().sent_bytes() == whole.last_traffic().sent_bytes());
    }
  }
}

TEST_CASE("values of masked elements are ignored in the sums of a node, too") {
  for (int const here : test::divisors_of_world()) {
    NodesOf const nodes(here);
    std::vector<bool> active(500, true);
    auto inputs = test::random_inputs(nodes.all->size(), 500, 3, 2);
    auto clean = inputs;
    for (std::size_t k = 0; k < 500; k += 7) {
      active[k] = false;
      for (auto& input : inputs) input[k] = k % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : -3e38f;
      for (auto& input : clean) input[k] = 1;
    }
    Exec const exec;
    HierarchicalAllreduce mean(*nodes.all, nodes.groups.get(), 500, {}, Wire::fp32);
    mean.set_active(exec, test::uploaded(test::packed(active)));
    test::HierarchicalReference reference(500, nodes.here, nodes.nodes, {}, Wire::fp32);
    reference.set_active(active);
    for (int call = 0; call < 2; ++call)
      CHECK(test::differences(test::mean_of(mean, exec, inputs[static_cast<std::size_t>(nodes.all->rank())]),
                              reference.mean(clean)) == 0);
  }
}

TEST_CASE("a hierarchical mean allocates nothing after its first run") {
  auto const wire = GENERATE(Wire::fp32, Wire::bf16);
  for (int const here : test::divisors_of_world()) {
    NodesOf const nodes(here);
    Exec const exec;
    HierarchicalAllreduce mean(*nodes.all, nodes.groups.get(), 50000, {}, wire);
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
}
