// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tests device access patterns: loading several elements before storing, and packs.
#include "core/device/device_launch.hpp"
#include "core/memory/convert.hpp"
#include "core/simd/pack.hpp"
#include "core/simd/team_runs.hpp"
#include "core/system/error.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace bellwether;
using test::random_numbers;
using test::to_host;

namespace {

/// Increments x(k) and returns the sums of its old values and of their squares, for k in [first, last).
template <class Space>
Sums<2> sum_and_count_up(Vec<double, Space> const& x, Index first, Index last) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Vec<Sums<2>, Space> const found("bellwether::test::found", 1);
  double* const values = x.data();
  Sums<2>* const out = found.data();
  Kokkos::parallel_for(
      "bellwether::test::loads_ahead", team_policy(Space(), 1), KOKKOS_LAMBDA(Team const& team) {
        auto const sum = team_sum<2, Space>(
            team, first, last, [=](Index k) { return values[k]; },
            [=](Index k, double was) {
              values[k] = was + 1;
              return Sums<2>{{was, was * was}};
            });
        Kokkos::single(Kokkos::PerTeam(team), [&] { out[0] = sum; });
      });
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found)(0);
}

/// Halves `changed`, copies `read` to `written`, and returns the old values of both.
template <class Access>
struct HalvingRun {
  KOKKOS_INLINE_FUNCTION Terms<2> operator()(int lane) const {
    float const was = changed[lane], other = read[lane];
    changed[lane] = was / 2;
    written[lane] = other;
    return {{was, other}, Kokkos::abs(was)};
  }
  typename Access::Read read;
  typename Access::Change changed;
  typename Access::Write written;
};

template <class Space>
struct HalvingKernel {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    auto const run_of = [&]<class Access>(Access, Index k, int) {
      return HalvingRun<Access>{read + k, changed + k, written + k};
    };
    auto const sums = team_squares_of_runs<2, Space>(team, first, last, run_of);
    Kokkos::single(Kokkos::PerTeam(team), [&] { *out = sums; });
  }

  Index first, last;
  float const* read;
  float *changed, *written;
  SumsAndLargest<2>* out;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("runs process every element once for any alignment", "", test::Spaces) {
  using Space = TestType;
  Index const whole = InRegisters::count * TeamShape<Space>::threads;
  Index const count = GENERATE_COPY(Index{0}, 1, 5, whole - 1, whole, whole + 1, 2 * whole + 7);
  Index const first = GENERATE(0, 3, 4);
  CAPTURE(first, count);
  auto const read = random_numbers<Space, float>(first + count + 2, 1);
  auto const changed = random_numbers<Space, float>(first + count + 2, 2);
  auto const before = to_host(changed), other = to_host(read);
  Vec<float, Space> const written("bellwether::test::written", static_cast<std::size_t>(first + count + 2));
  Vec<SumsAndLargest<2>, Space> const found("bellwether::test::found", 1);
  require_neighbours<Space>(read.data(), changed.data(), written.data());
  Kokkos::parallel_for(
      "bellwether::test::runs", team_policy(Space(), 1),
      HalvingKernel<Space>{first, first + count, read.data(), changed.data(), written.data(), found.data()});
  auto const halved = to_host(changed), copied = to_host(written);
  auto const sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found)(0);
  double squares = 0, others = 0, largest = 0;
  for (Index k = 0; k < std::ssize(before); ++k) {
    auto const at = static_cast<std::size_t>(k);
    bool const inside = k >= first && k < first + count;
    CHECK(halved[at] == (inside ? before[at] / 2 : before[at]));
    CHECK(copied[at] == (inside ? other[at] : 0));
    if (!inside) continue;
    squares += before[at] * before[at];
    others += other[at] * other[at];
    largest = std::max(largest, std::abs(before[at]));
  }
  CHECK(std::abs(sums.value[0] - squares) < 1e-12 * static_cast<double>(count + 1));
  CHECK(std::abs(sums.value[1] - others) < 1e-12 * static_cast<double>(count + 1));
  CHECK(sums.largest == largest);
}

TEST_CASE("unaligned vectors are rejected in spaces with packs") {
  alignas(16) float numbers[8] = {};
  CHECK_NOTHROW(require_neighbours<Exec>(numbers, static_cast<float*>(nullptr)));
  if constexpr (has_packs<float, Exec>) CHECK_THROWS_AS(require_neighbours<Exec>(numbers + 1), InternalError);
}

TEMPLATE_LIST_TEST_CASE("loads ahead process every element exactly once", "", test::Spaces) {
  using Space = TestType;
  // Lengths below, at and above what all threads of a team load ahead.
  Index const whole = loads_ahead * TeamShape<Space>::threads;
  Index const count = GENERATE_COPY(Index{0}, 1, whole - 1, whole, whole + 1, 2 * whole + 7);
  Index const first = GENERATE(0, 3);
  CAPTURE(first, count);
  auto const x = random_numbers<Space>(first + count + 2, 1);
  auto const before = to_host(x);
  auto const sums = sum_and_count_up<Space>(x, first, first + count);
  auto const after = to_host(x);
  double sum = 0, squares = 0;
  for (Index k = 0; k < std::ssize(before); ++k) {
    auto const at = static_cast<std::size_t>(k);
    bool const inside = k >= first && k < first + count;
    CHECK(after[at] == before[at] + (inside ? 1 : 0));
    sum += inside ? before[at] : 0;
    squares += inside ? before[at] * before[at] : 0;
  }
  CHECK(std::abs(sums.value[0] - sum) < 1e-12 * static_cast<double>(count + 1));
  CHECK(std::abs(sums.value[1] - squares) < 1e-12 * static_cast<double>(count + 1));
}

TEMPLATE_LIST_TEST_CASE("conversions round each number, including the remainder and unaligned ones", "", test::Spaces) {
  using Space = TestType;
  Index const count = GENERATE(1, 3, 4, 5, 1023), first = GENERATE(0, 1);
  auto const x = random_numbers<Space, float>(first + count, 1);
  Vec<bf16, Space> const rounded("bellwether::test::rounded", static_cast<std::size_t>(first + count + 1));
  Vec<float, Space> const back("bellwether::test::back", static_cast<std::size_t>(first + count + 1));
  Space const exec;
  convert("bellwether::test::round", exec, count, x.data() + first, rounded.data() + first);
  convert("bellwether::test::read", exec, count, static_cast<bf16 const*>(rounded.data()) + first, back.data() + first);
  exec.fence("bellwether::test::converted");
  auto const given = to_host(x), found = to_host(back);
  for (Index k = first; k < first + count; ++k) {
    auto const at = static_cast<std::size_t>(k);
    CHECK(static_cast<float>(found[at]) == static_cast<float>(bf16(static_cast<float>(given[at]))));
  }
  CHECK(found.back() == 0);
}

TEST_CASE("begin_packs() checks the alignment") {
  alignas(16) float numbers[8] = {};
  CHECK(begin_packs<4>(numbers, numbers + 4, static_cast<float*>(nullptr)));
  CHECK_FALSE(begin_packs<4>(numbers, numbers + 2));
  CHECK(begin_packs<2>(numbers + 2));
}

TEST_CASE("recorded work runs once per replay") {
  Exec const exec;
  Vec<double> const x("bellwether::test::counted", 3);
  double* const values = x.data();
  auto const work = [&] {
    Kokkos::parallel_for(
        "bellwether::test::count", Kokkos::RangePolicy<Exec>(exec, 0, 3), KOKKOS_LAMBDA(int k) { values[k] += k + 1; });
  };
  if (!Recording::possible()) {
    CHECK_THROWS_AS(Recording(exec, work), RuntimeError);
    SKIP("this build's execution space records nothing");
  }
  work();
  Recording const twice(exec, [&] {
    work();
    work();
  });
  exec.fence("bellwether::test::recorded");
  CHECK(to_host(x) == std::vector<double>{1, 2, 3});
  twice.replay(exec);
  twice.replay(exec);
  exec.fence("bellwether::test::replayed");
  CHECK(to_host(x) == std::vector<double>{5, 10, 15});
}
