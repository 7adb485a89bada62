// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/tensor_errors.hpp"
#include "comm/world.hpp"
#include "tests/comm/compressed_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <cmath>

using namespace bellwether;
using namespace bellwether::test;
using Catch::Matchers::WithinRel;

namespace {

/// Tensors that begin and end inside of words, blocks and chunks; one without an element, one without a live one.
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

struct Expected {
  double worker = 0, worker_all = 0, server = 0, server_all = 0, live = 0, agreeing = 0;
};

}  // namespace

TEST_CASE("errors and agreement by tensor are those of the vectors themselves") {
  auto& group = world().communicator();
  auto const ranks = static_cast<std::size_t>(group.size()), rank = static_cast<std::size_t>(group.rank());
  auto const layout = tensors();
  auto const n = static_cast<std::size_t>(layout.count());
  auto const groups = GENERATE(std::size_t{1}, std::size_t{3});
  auto const rule = GENERATE(comm::Scale::mean_magnitude, comm::Scale::rms);
  comm::CompressedAllreduce mean(
      group, layout.count(),
      {.scale = rule, .scale_groups = static_cast<std::int64_t>(groups), .compress_alone = true});
  ReferenceCompression<float> reference(n, ranks, rule, groups);
  std::vector<bool> live(n);
  auto const& dead = layout.find("dead");
  for (std::size_t k = 0; k < n; ++k)
    live[k] = k % 11 != 3 && (static_cast<Index>(k) < dead.offset || static_cast<Index>(k) >= dead.offset + dead.count);
  reference.set_live(live);
  Exec const exec;
  auto const words = packed(live);
  mean.set_live(exec, uploaded(std::vector<std::uint32_t>(words.begin(), words.end())));

  // Some calls leave residuals; what the last one should have summed is formed from them and its inputs.
  std::vector<std::vector<float>> inputs, worker_error;
  std::vector<float> server_error, result;
  for (std::uint64_t call = 1; call <= 3; ++call) {
    inputs = random_inputs(group.size(), layout.count(), call, 3);
    worker_error = reference.worker_error;
    server_error = reference.server_error;
    result = reference.mean(inputs);
    mean_of(mean, exec, inputs[rank]);
  }
  std::vector<Expected> expected(layout.tensors().size());
  std::size_t const group_elements = (((n + 31) / 32) + groups - 1) / groups * 32;
  for (std::size_t l = 0; l < expected.size(); ++l) {
    auto const& tensor = layout.tensors()[l];
    for (auto k = static_cast<std::size_t>(tensor.offset); k < static_cast<std::size_t>(tensor.offset + tensor.count);
         ++k) {
      if (!live[k]) continue;
      float sum = 0;
      for (std::size_t i = 0; i < ranks; ++i) {
        float const z = inputs[i][k] + worker_error[i][k];
        sum += reference.worker_scales[i][k / group_elements] * sign_of(z);
        if (i != rank) continue;
        expected[l].worker_all += static_cast<double>(z) * z;
        expected[l].agreeing += sign_of(z) == sign_of(result[k]) ? 1 : 0;
      }
      float const e = reference.worker_error[rank][k];
      expected[l].worker += static_cast<double>(e) * e;
      expected[l].live += 1;
      if (k < reference.chunk_first(rank) || k >= reference.chunk_first(rank + 1)) continue;
      float const y = sum / static_cast<float>(ranks) + server_error[k], d = reference.server_error[k];
      expected[l].server_all += static_cast<double>(y) * y;
      expected[l].server += static_cast<double>(d) * d;
    }
  }

  BlockTable<Exec> const table(layout);
  auto const tensors = static_cast<std::size_t>(table.tensors());
  Vec<double> const partial("partial", static_cast<std::size_t>(comm::tensor_error_sums * table.count()));
  Vec<float> const numbers("numbers", comm::tensor_error_numbers * tensors);
  comm::tensor_errors(exec, table, layout.count(), mean.last_mean(), partial, numbers);
  exec.fence("bellwether::test::tensor_errors");
  auto const found = downloaded(numbers);
  for (std::size_t l = 0; l < tensors; ++l) {
    auto const& want = expected[l];
    INFO(layout.tensors()[l].name);
    if (want.live == 0) {
      CHECK((std::isnan(found[l]) && std::isnan(found[tensors + l])));
    } else {
      CHECK_THAT(found[l], WithinRel(want.worker / want.worker_all, 1e-6));
      CHECK(found[tensors + l] == static_cast<float>(want.agreeing / want.live));
    }
    CHECK_THAT(found[2 * tensors + l], WithinRel(want.server, 1e-5));
    CHECK_THAT(found[3 * tensors + l], WithinRel(want.server_all, 1e-6));
  }
}
