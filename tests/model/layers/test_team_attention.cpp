// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the attention of devices, on every enabled space, with that of hosts.
#include "model/layers/attention_team.hpp"
#include "tests/model/layers/attention_fixture.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace bellwether;
using namespace bellwether::test::attention;

namespace {

/// Two teams share all heads.
template <class Real, class Stored, class Space>
void compare_teams(double dropout, double allowed) {
  Index const width = GENERATE(4, 64, 67);
  Space const exec;
  Problem<Real, Stored, Space> const mine(exec, lengths, width, 2);
  compare(mine, width, dropout, allowed, [&](Attention<Real, Stored> const& attention) {
    team_attention_forward(exec, attention, 2, mine.context.data());
    team_attention_backward(exec, attention, 2, mine.dcontext.data(), mine.dqkv.data());
  });
}

template <class Real, class Stored, class Space>
void compare_space(double dropout, double allowed) {
  Index const width = GENERATE(32, 64);
  Space const exec;
  Problem<Real, Stored, Space> const mine(exec, lengths, width, 0);
  compare(mine, width, dropout, allowed, [&](Attention<Real, Stored> const& attention) {
    attention_forward(exec, attention, mine.context.data());
    attention_backward(exec, attention, mine.dcontext.data(), mine.dqkv.data());
  });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("attention by teams agrees with the host's in double", "", test::Spaces) {
  compare_teams<double, double, TestType>(GENERATE(0.0, 0.3), 1e-14);
}

TEMPLATE_LIST_TEST_CASE("attention by teams agrees with the host's in fp32 and bf16", "", test::Spaces) {
  compare_teams<float, float, TestType>(0.3, 3e-6);
  // Both sides round probabilities and results to bf16, and the last bit of fp32 may decide how.
  compare_teams<float, bf16, TestType>(0.3, 0x1p-7);
}

TEMPLATE_LIST_TEST_CASE("the attention of each space agrees with the host's", "", test::Spaces) {
  double const dropout = GENERATE(0.0, 0.3);
  compare_space<double, double, TestType>(dropout, 1e-14);
  compare_space<float, float, TestType>(dropout, 3e-6);
  // Some spaces round weights to bf16 before dividing by the softmax sum, so roundings differ.
  compare_space<float, bf16, TestType>(dropout, 0x1p-6);
}
