// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/world.hpp"
#include "tests/model/optim/optimizer_fixture.hpp"
#include "tests/support/world.hpp"

#include <catch2/catch_message.hpp>

#include <cstring>
#include <map>
#include <string>
#include <vector>

/// Functions for tests of the 1-bit optimizers on several ranks.
namespace bellwether::test {

inline comm::Communicator& group() { return world().communicator(); }

/// Combines a check of all ranks, so that it fails on all of them: a rank that leaves alone would hang the others.
inline bool on_all(bool mine) {
  double failures = mine ? 0 : 1;
  group().sum_host({&failures, 1}, "bellwether::test::agree");
  return failures == 0;
}

/// Returns whether all ranks hold the same bits.
inline bool equal_on_all_ranks(std::vector<float> const& values) {
  auto zero = values;
  group().broadcast_host(std::as_writable_bytes(std::span(zero)), 0, "bellwether::test::compare");
  double differs = std::memcmp(zero.data(), values.data(), values.size() * sizeof(float)) != 0 ? 1 : 0;
  group().sum_host({&differs, 1}, "bellwether::test::compare");
  return differs == 0;
}

/// Returns awkward_layout() with active elements: all but the last five of the matrix, and none in tensor `left_out`.
inline ParameterLayout active_layout(std::string const& left_out = "") {
  ParameterLayout layout;
  auto const awkward = awkward_layout();
  for (auto tensor : awkward.tensors()) {
    if (tensor.name == left_out) continue;
    tensor.active = tensor.name == "matrix" ? tensor.count - 5 : tensor.count;
    layout.add(tensor);
  }
  return layout;
}

inline optim::OptimizerConfig onebit(optim::Method method, std::int64_t freeze) {
  optim::OptimizerConfig config;
  config.method = method;
  config.freeze.step = freeze;
  config.clip = 0.5;
  config.sketch_columns = 256;
  return config;
}

/// Returns this rank's gradient of step t, which depends on the point where it is evaluated.
inline std::vector<float> gradient_of(Training& training, int t) {
  auto gradient = training.sample(t, training.group.rank());
  auto const point = training.point();
  for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] *= 1 + 0.1f * point[k];
  return gradient;
}

/// Makes steps [first, last] with gradient_of().
inline void run(Training& training, int first, int last) {
  for (int t = first; t <= last; ++t) training.step(t, gradient_of(training, t));
}

}  // namespace bellwether::test
