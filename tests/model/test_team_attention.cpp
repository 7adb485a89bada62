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
  Vec<Real, Space> scratch;

  Problem(std::vector<std::int32_t> const& lengths, Index width, Index slots) : C(heads * width) {
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
    scratch = Vec<Real, Space>("scratch", static_cast<std::size_t>(slots * 3 * longest * longest));
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
            .scratch = scratch.data()};
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

template <class Real, class Stored, class Space>
void compare(double dropout, double allowed) {
  // Lengths about the edges of tiles, rows that share workers, and draws; two teams take turns.
  std::vector<std::int32_t> const lengths{5, 64, 1, 130, 17, 65, 63};
  Index const width = GENERATE(4, 64, 67);
  CAPTURE(dropout, width);
  Space const exec;
  Host const host;
  Problem<Real, Stored, Space> const mine(lengths, width, 2);
  Problem<Real, Stored, Host> const theirs(lengths, width, attention_slots(host));
  team_attention_forward(exec, mine.attention(dropout), 2, mine.context.data());
  team_attention_backward(exec, mine.attention(dropout), 2, mine.dcontext.data(), mine.dqkv.data());
  attention_forward(host, theirs.attention(dropout), theirs.context.data());
  attention_backward(host, theirs.attention(dropout), theirs.dcontext.data(), theirs.dqkv.data());
  exec.fence("bellwether::test::attention");
  CHECK(distance(mine.context, theirs.context) <= allowed);
  CHECK(distance(mine.dqkv, theirs.dqkv) <= allowed);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("attention by teams is attention, in double", "", test::Spaces) {
  compare<double, double, TestType>(GENERATE(0.0, 0.3), 1e-14);
}

TEMPLATE_LIST_TEST_CASE("attention by teams is attention, in fp32 and in bf16", "", test::Spaces) {
  compare<float, float, TestType>(0.3, 3e-6);
  // Probabilities and what comes of them are rounded to bf16 on both ways; a last bit of fp32 may decide where to.
  compare<float, bf16, TestType>(0.3, 0x1p-7);
}
