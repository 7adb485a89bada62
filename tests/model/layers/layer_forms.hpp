// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/row_walk.hpp"
#include "model/layers/rows.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/larger.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <vector>

/// Compares rows shared by teams or lanes, as on devices, with rows handled by one thread, as on hosts.
namespace bellwether::model::test_forms {

using Numbers = std::vector<double>;

inline constexpr Index rows = 35;
static_assert(rows > row_block && rows % row_block != 0);

struct Threads {
  using Space = Kokkos::DefaultHostExecutionSpace;
  static constexpr bool lanes = false;
  template <class Body>
  static void run(Index items, Body const& body) {
    for_each_row("bellwether::test::rows", Space(), items, 1, body);
  }
};

/// Uses two threads in a team if the space supports them, so that one may run ahead of the other.
template <class S>
struct Teams {
  using Space = S;
  static constexpr bool lanes = false;
  template <class Body>
  static void run(Index items, Body const& body) {
    constexpr int lanes = TeamShape<Space>::host ? 1 : 32;
    bellwether::detail::RowByTeam<Body> const kernel{body};
    int const most = Kokkos::TeamPolicy<Space>(Space(), 1, 1, lanes).team_size_max(kernel, Kokkos::ParallelForTag());
    for_each_row_by_teams("bellwether::test::rows", Space(), items, std::min(2, most), lanes, body);
  }
};

/// Concatenates the results of a form.
template <class... Views>
Numbers together(Views const&... views) {
  Kokkos::fence("bellwether::test::a form is done");
  Numbers all;
  auto const add = [&](auto const& view) {
    auto const values = test::to_host(view);
    all.insert(all.end(), values.begin(), values.end());
  };
  (add(views), ...);
  return all;
}

/// allowed: largest difference, relative to the largest magnitude.
inline void compare(Numbers const& teams, Numbers const& threads, double allowed) {
  REQUIRE(teams.size() == threads.size());
  double largest = 0, difference = 0;
  for (std::size_t k = 0; k < teams.size(); ++k) {
    largest = test::larger(largest, threads[k]);
    difference = test::larger(difference, teams[k] - threads[k]);
  }
  CHECK(largest > 0);
  CHECK(difference < allowed * largest);
}

/// Compares the layers in double and with bf16. With bf16, the last bit of a float may decide how a number is rounded.
template <class Space, class Layer>
void compare_forms(Layer const& layer) {
  compare(layer.template operator()<Teams<Space>, double, double>(),
          layer.template operator()<Threads, double, double>(), 1e-13);
  compare(layer.template operator()<Teams<Space>, float, bf16>(), layer.template operator()<Threads, float, bf16>(),
          0x1p-7);
}

}  // namespace bellwether::model::test_forms
