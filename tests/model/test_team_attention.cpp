// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What devices run, on every enabled space, beside what hosts run.
#include "core/random.hpp"
#include "model/layers/attention_team.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>

using namespace bellwether;
using namespace bellwether::model;
using test::to_space;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

constexpr Index heads = 2;

template <class Real, class Stored, class Space>
struct Problem {
  Index C, longest = 0;
  Vec<std::int32_t, Space> offsets;
  Vec<std::int64_t, Space> samples;
  Vec<Stored, Space> qkv, dcontext, context, dqkv;
  Vec<Real, Space> scratch, logarithms;

  /// Scratch for that many teams, or, where there are none, for what the space runs.
  Problem(Space const& exec, std::vector<std::int32_t> const& lengths, Index width, Index teams) : C(heads * width) {
    std::vector<std::int32_t> starts{0};
    std::vector<std::int64_t> numbers;
    for (auto const length : lengths) {
      starts.push_back(starts.back() + length);
      numbers.push_back((std::int64_t{1} << 33) + length);
      longest = std::max<Index>(longest, length);
    }
    offsets = to_space<Space>(starts);
    samples = to_space<Space>(numbers);
    Index const T = starts.back();
    qkv = test::random_numbers<Space, Stored>(T * 3 * C, 1, 2);
    dcontext = test::random_numbers<Space, Stored>(T * C, 2);
    context = Vec<Stored, Space>("context", static_cast<std::size_t>(T * C));
    dqkv = Vec<Stored, Space>("dqkv", static_cast<std::size_t>(T * 3 * C));
    Index const numbers_of_scratch =
        teams > 0 ? teams * 3 * longest * longest
                  : attention_scratch<Real, Stored>(exec, std::ssize(lengths), C, heads, longest);
    logarithms =
        Vec<Real, Space>("logarithms", static_cast<std::size_t>(attention_keeps<Real, Stored>(exec, T, C, heads)));
    scratch = Vec<Real, Space>("scratch", static_cast<std::size_t>(numbers_of_scratch));
  }
  Attention<Real, Stored> attention(double dropout) const {
    return {.sequences = static_cast<Index>(samples.extent(0)),
            .C = C,
            .heads = heads,
            .longest = longest,
            .sequence_offsets = offsets.data(),
            .qkv = qkv.data(),
            .dropout = {random_key(7, Purpose::dropout), 3, dropout},
            .samples = samples.data(),
            .position_stride = 3 * dropout_chunk,
            .scratch = scratch.data(),
            .context = context.data(),
            .logarithms = logarithms.data()};
  }
};

/// Largest difference, relative to the largest magnitude.
template <class A, class B>
double distance(A const& a, B const& b) {
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  auto const y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    difference = test::larger(difference, static_cast<double>(x(i)) - static_cast<double>(y(i)));
    largest = test::larger(largest, static_cast<double>(y(i)));
  }
  return difference / largest;
}

/// Lengths about the edges of tiles, rows that share workers, and draws.
std::vector<std::int32_t> const lengths{5, 64, 1, 130, 17, 65, 63};

/// What `mine` computed by run() beside hosts.
template <class Real, class Stored, class Space, class Run>
void compare(Problem<Real, Stored, Space> const& mine, Index width, double dropout, double allowed, Run const& run) {
  CAPTURE(dropout, width);
  Host const host;
  Problem<Real, Stored, Host> const theirs(host, lengths, width, 0);
  run(mine.attention(dropout));
  attention_forward(host, theirs.attention(dropout), theirs.context.data());
  attention_backward(host, theirs.attention(dropout), theirs.dcontext.data(), theirs.dqkv.data());
  Space().fence("bellwether::test::attention");
  CHECK(distance(mine.context, theirs.context) <= allowed);
  CHECK(distance(mine.dqkv, theirs.dqkv) <= allowed);
}

/// Two teams take turns.
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

TEMPLATE_LIST_TEST_CASE("attention by teams is attention, in double", "", test::Spaces) {
  compare_teams<double, double, TestType>(GENERATE(0.0, 0.3), 1e-14);
}

TEMPLATE_LIST_TEST_CASE("attention by teams is attention, in fp32 and in bf16", "", test::Spaces) {
  compare_teams<float, float, TestType>(0.3, 3e-6);
  // Probabilities and what comes of them are rounded to bf16 on both ways; a last bit of fp32 may decide where to.
  compare_teams<float, bf16, TestType>(0.3, 0x1p-7);
}

TEMPLATE_LIST_TEST_CASE("attention as each space runs it is that of hosts", "", test::Spaces) {
  double const dropout = GENERATE(0.0, 0.3);
  compare_space<double, double, TestType>(dropout, 1e-14);
  compare_space<float, float, TestType>(dropout, 3e-6);
  // Where weights are rounded to bf16 before softmax has divided them by its sum, others round up than down.
  compare_space<float, bf16, TestType>(dropout, 0x1p-6);
}
