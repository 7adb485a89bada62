// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/simd/column_sum.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace bellwether;
using namespace bellwether::test;

namespace {

/// Reference: every eighth row in order, then the eight sums in order.
float in_eights(std::vector<float> const& values, Index rows, Index columns, Index column) {
  float sum = 0;
  for (Index group = 0; group < 8; ++group) {
    float part = 0;
    for (Index row = group; row < rows; row += 8) part += values[static_cast<std::size_t>(row * columns + column)];
    sum += part;
  }
  return sum;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a team sums rows in groups of eight, bit for bit", "", Spaces) {
  using Space = TestType;
  using Columns = ColumnTeam<Space>;
  Index const rows = GENERATE(0, 1, 7, 8, 9, 203), columns = GENERATE(1, 31, 32, 33, 90);
  CAPTURE(rows, columns);
  Space const exec;
  std::vector<float> values;
  for (double const value : random_values(rows * columns, 5)) values.push_back(static_cast<float>(value));
  auto const on_space = to_space<Space>(values);
  auto const sums = zeros<Space, float>(columns), calls = zeros<Space, float>(columns);
  Kokkos::parallel_for(
      "bellwether::test::column_sums",
      Columns::template policy<float>(exec, (columns + Columns::across - 1) / Columns::across),
      KOKKOS_LAMBDA(typename Kokkos::TeamPolicy<Space>::member_type const& team) {
        Index const first = Index{team.league_rank()} * Columns::across;
        int const here = static_cast<int>(Kokkos::min(Index{Columns::across}, columns - first));
        Columns::sum(
            team, rows, here, Columns::template staged<float>(team),
            [&](Index row, int column) { return on_space(row * columns + first + column); },
            [&](int column, float sum) {
              sums(first + column) = sum;
              calls(first + column) += 1;
            });
      });
  exec.fence("bellwether::test::summed");
  auto const found = to_host(sums), counted = to_host(calls);
  for (Index column = 0; column < columns; ++column) {
    CHECK(found[static_cast<std::size_t>(column)] == in_eights(values, rows, columns, column));
    CHECK(counted[static_cast<std::size_t>(column)] == 1);
  }
}
