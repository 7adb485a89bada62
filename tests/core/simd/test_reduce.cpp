// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/random/random.hpp"
#include "core/simd/reduce.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace bellwether;

namespace {

KOKKOS_INLINE_FUNCTION double term(Index k) {
  // One in four terms is large: a different order of addition would change the result.
  auto const bits = philox(static_cast<std::uint32_t>(k), 0, 0, 0, 1, 2).x[0];
  return (uniform(bits) - 0.5) * (bits % 4 == 0 ? 1e10 : 1.0);
}

double blocked_sum(Index first, Index last) {
  double sum = 0;
  for (Index begin = first; begin < last; begin += reduce_block) {
    double block = 0;
    for (Index k = begin; k < last && k < begin + reduce_block; ++k) block += term(k);
    sum += block;
  }
  return sum;
}

template <class Space>
double device_sum(Index first, Index last) {
  return ordered_sum(
      Space(), "bellwether::test::sum", first, last, KOKKOS_LAMBDA(Index k) { return term(k); });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a sum is formed by block in the same order in every space", "", test::Spaces) {
  auto const last = GENERATE(Index{0}, 1, 17, reduce_block - 1, reduce_block, reduce_block + 1, 5 * reduce_block + 3);
  auto const first = GENERATE(Index{0}, 5);
  CAPTURE(first, last);
  CHECK(device_sum<TestType>(first, last) == blocked_sum(first, last));
}
