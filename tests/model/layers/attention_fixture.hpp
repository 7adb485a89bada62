// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/random/random.hpp"
#include "model/layers/attention.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/larger.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <vector>

/// Attention on random numbers by one implementation, compared with the host's.
namespace bellwether::test::attention {

using namespace bellwether::model;

using Host = Kokkos::DefaultHostExecutionSpace;

inline constexpr Index heads = 2;

template <class Real, class Stored, class Space>
struct Problem {
  Index C, longest = 0;
  Vec<std::int32_t, Space> offsets;
  Vec<std::int64_t, Space> samples;
  Vec<Stored, Space> qkv, dcontext, context, dqkv;
  Vec<Real, Space> scratch, logarithms;

  /// Allocates scratch for this many teams; with 0 teams, for all that the space runs.
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
    qkv = random_numbers<Space, Stored>(T * 3 * C, 1, 2);
    dcontext = random_numbers<Space, Stored>(T * C, 2);
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

/// Returns the largest difference, relative to the largest magnitude.
template <class A, class B>
double distance(A const& a, B const& b) {
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  auto const y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    difference = larger(difference, static_cast<double>(x(i)) - static_cast<double>(y(i)));
    largest = larger(largest, static_cast<double>(y(i)));
  }
  return difference / largest;
}

/// Lengths near the boundaries of tiles, of shared rows, and of draws.
inline std::vector<std::int32_t> const lengths{5, 64, 1, 130, 17, 65, 63};

/// Compares what run() computes in `mine` with the host's results.
template <class Real, class Stored, class Space, class Run>
void compare(Problem<Real, Stored, Space> const& mine, Index width, double dropout, double allowed, Run const& run) {
  CAPTURE(dropout, width);
  Host const host;
  Problem<Real, Stored, Host> const theirs(host, lengths, width, 0);
  run(mine.attention(dropout));
  attention_forward(host, theirs.attention(dropout), theirs.context.data());
  attention_backward(host, theirs.attention(dropout), theirs.dcontext.data(), theirs.dqkv.data());
  Space().fence("bellwether::attention");
  CHECK(distance(mine.context, theirs.context) <= allowed);
  CHECK(distance(mine.dqkv, theirs.dqkv) <= allowed);
}

}  // namespace bellwether::test::attention
