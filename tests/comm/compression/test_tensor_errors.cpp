// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/compression/tensor_errors.hpp"
#include "tests/comm/compression/node_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <array>
#include <cmath>

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::WithinRel;

namespace {

/// Tensors that begin and end inside words, blocks and chunks; one is empty, one has no active element.
ParameterLayout tensors() {
  ParameterLayout layout;
  layout.add({.name = "words", .shape = {64}});
  layout.add({.name = "seven", .shape = {7}});
  layout.add({.name = "empty", .shape = {0}});
  layout.add({.name = "dead", .shape = {50}});
  layout.add({.name = "one", .shape = {1}});
  layout.add({.name = "blocks", .shape = {9001}});
  layout.add({.name = "last", .shape = {300}});
  return layout;
}

float sign_of(float value) { return value >= 0 ? 1.0f : -1.0f; }

/// Sums of a tensor on one rank, or over ranks.
struct Expected {
  void add(Expected const& other) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
  }
  double share(std::size_t part, std::size_t whole) const { return sums[part] / sums[whole]; }
  std::array<double, comm::tensor_error_sums> sums{};
};

/// Returns a rank's expected sums per tensor from the last inputs, the residuals before and after, and the mean.
std::vector<Expected> expected_sums(ParameterLayout const& layout, HierarchicalReference const& before,
                                    HierarchicalReference const& after, std::vector<std::vector<float>> const& inputs,
                                    std::vector<float> const& mean, int place, std::size_t node, std::size_t groups) {
  auto const& old = before.slice(place);
  auto const& now = after.slice(place);
  auto const means = after.node_means(inputs, place);
  std::size_t const origin = after.first(place), count = after.first(place + 1) - origin;
  std::size_t const group_elements = (((count + 31) / 32) + groups - 1) / groups * 32;
  std::vector<Expected> expected(layout.tensors().size());
  for (std::size_t l = 0; l < expected.size(); ++l) {
    auto const& tensor = layout.tensors()[l];
    auto& sums = expected[l].sums;
    for (Index i = 0; i < tensor.count; ++i) {
      auto const at = static_cast<std::size_t>(tensor.offset + i);
      if (at < origin || at - origin >= count || !now.active[at - origin]) continue;
      std::size_t const k = at - origin;
      auto const sign_at = [&](std::size_t q) { return sign_of(means[q][k] + old.worker_error[q][k]); };
      float const z = means[node][k] + old.worker_error[node][k], e = now.worker_error[node][k];
      sums[0] += static_cast<double>(e) * e;
      sums[1] += static_cast<double>(z) * z;
      sums[4] += 1;
      sums[5] += sign_at(node) == sign_of(mean[at]) ? 1 : 0;
      if (k < now.chunk_first(node) || k >= now.chunk_first(node + 1)) continue;
      float sum = 0;
      for (std::size_t q = 0; q < means.size(); ++q) sum += now.worker_scales[q][k / group_elements] * sign_at(q);
      float const y = sum / static_cast<float>(means.size()) + old.server_error[k], d = now.server_error[k];
      sums[2] += static_cast<double>(d) * d;
      sums[3] += static_cast<double>(y) * y;
    }
  }
  return expected;
}

}  // namespace

TEST_CASE("tensor errors and sign agreement equal those computed from the vectors, with and without nodes") {
  auto const layout = tensors();
  auto const n = static_cast<std::size_t>(layout.count());
  auto const groups = GENERATE(std::size_t{1}, std::size_t{3});
  auto const rule = GENERATE(comm::Scale::mean_magnitude, comm::Scale::rms);
  comm::CompressionOptions const options{
      .scale = rule, .scale_groups = static_cast<std::int64_t>(groups), .compress_alone = true};
  std::vector<bool> active(n);
  auto const& masked = layout.find("dead");
  for (std::size_t k = 0; k < n; ++k)
    active[k] =
        k % 11 != 3 && (static_cast<Index>(k) < masked.offset || static_cast<Index>(k) >= masked.offset + masked.count);
  auto const words = packed(active);
  Exec const exec;
  BlockTable<Exec> const table(layout);
  auto const tensors = static_cast<std::size_t>(table.tensors());
  Vec<std::int32_t> const skip("skip", 1);

  for (int const here : divisors_of_world()) {
    NodesOf const nodes(here);
    comm::HierarchicalAllreduce mean(*nodes.all, nodes.groups.get(), layout.count(), options, comm::Wire::fp32);
    HierarchicalReference reference(layout.count(), here, nodes.nodes, options, comm::Wire::fp32);
    reference.set_active(active);
    mean.set_active(exec, uploaded(std::vector<std::uint32_t>(words.begin(), words.end())));
    // Several calls build up residuals; the sums of the last call are computed from them and its inputs.
    auto before = reference;
    std::vector<std::vector<float>> inputs;
    std::vector<float> result;
    for (std::uint64_t call = 1; call <= 3; ++call) {
      inputs = random_inputs(nodes.all->size(), layout.count(), call, 3);
      before = reference;
      result = reference.mean(inputs);
      CHECK(differences(mean_of(mean, exec, inputs[static_cast<std::size_t>(nodes.all->rank())]), result) == 0);
    }
    auto const of_rank = [&](int place, int node) {
      return expected_sums(layout, before, reference, inputs, result, place, static_cast<std::size_t>(node), groups);
    };
    std::vector<Expected> all(tensors);
    for (int place = 0; place < here; ++place)
      for (int node = 0; node < nodes.nodes; ++node) {
        auto const one = of_rank(place, node);
        for (std::size_t l = 0; l < tensors; ++l) all[l].add(one[l]);
      }

    Vec<double> const partial("partial", static_cast<std::size_t>(comm::tensor_error_sums * table.count()));
    Vec<float> const sums("sums", comm::tensor_error_sums * tensors);
    comm::tensor_errors(exec, table, mean.last_mean(), partial, sums);
    auto& group = *nodes.all;
    comm::CompressionShares shares(group, true, table);
    CHECK(shares.bytes() == comm::CompressionShares::predicted_bytes(group, true, table));
    Vec<float> const values("values", comm::CompressionShares::names().size() * tensors);
    shares.measure(exec, table, mean.last_mean(), true, skip.data(), values.data());
    exec.fence("bellwether::test::tensor_errors");
    auto const found = downloaded(sums), told = downloaded(values);
    CHECK(equal_on_all_ranks(group, told));
    auto const mine = of_rank(nodes.place(), nodes.node());
    for (std::size_t l = 0; l < tensors; ++l) {
      CAPTURE(layout.tensors()[l].name, here, groups);
      for (std::size_t i = 0; i < comm::tensor_error_sums; ++i)
        CHECK_THAT(found[i * tensors + l], WithinRel(mine[l].sums[i], i < 4 ? 1e-5 : 0));
      if (all[l].sums[4] == 0) {
        for (std::size_t i = 0; i < 3; ++i) CHECK(std::isnan(told[i * tensors + l]));
        continue;
      }
      CHECK_THAT(told[l], WithinRel(all[l].share(0, 1), 1e-5));
      CHECK_THAT(told[tensors + l], WithinRel(all[l].share(2, 3), 1e-5));
      CHECK_THAT(told[2 * tensors + l], WithinRel(all[l].share(5, 4), 1e-6));
    }
    comm::CompressionShares exact(group, false, table);
    exact.measure(exec, table, mean.last_mean(), true, skip.data(), values.data());
    exec.fence("bellwether::test::tensor_errors, nothing was compressed");
    for (float const value : downloaded(values)) CHECK(std::isnan(value));
  }
}
