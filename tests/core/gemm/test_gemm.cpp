// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm/gemm.hpp"
#include "core/gemm/team_product.hpp"
#include "tests/core/gemm/products.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using namespace bellwether::test;

namespace {

/// Computes the product on an execution space with multiply(exec, a, b, c).
template <class Space, class A, class B, class C, class Multiply>
std::vector<C> formed(Matrices<A, B, C> const& x, Multiply const& multiply) {
  Space const exec;
  auto const a = to_space<Space>(x.a);
  auto const b = to_space<Space>(x.b);
  auto const c = to_space<Space>(x.c);
  multiply(exec, a.data(), b.data(), c.data());
  exec.fence("bellwether::test::product");
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  return {host.data(), host.data() + host.extent(0)};
}

template <class Space, class T, class C>
std::vector<C> formed_by_gemm(Problem const& p, Matrices<T, T, C> const& x) {
  return formed<Space>(x, [&](Space const& exec, T const* a, T const* b, C* c) {
    gemm(exec, {p.op_a, p.op_b, p.m, p.n, p.k}, ConstMatrix{a, x.lda}, ConstMatrix{b, x.ldb}, Matrix{c, x.ldc},
         {.alpha = p.alpha, .beta = p.beta});
  });
}

template <class Space, class A, class B, class C>
std::vector<C> formed_by_teams(Problem const& p, Matrices<A, B, C> const& x) {
  return formed<Space>(x, [&](Space const& exec, A const* a, B const* b, C* c) {
    team_gemm(exec, TeamOperands<A, B>{p.op_a, p.op_b, p.m, p.n, p.k, a, x.lda, b, x.ldb}, p.alpha, p.beta, c, x.ldc);
  });
}

template <class A, class B, class C>
void form_by_tile(Problem const& p, Index m, Matrices<A, B, C> const& x, A const* a, C* c) {
  gemm_tile({p.op_a, p.op_b, m, p.n, p.k}, ConstMatrix{a, x.lda}, ConstMatrix{x.b.data(), x.ldb}, Matrix{c, x.ldc},
            {.alpha = p.alpha, .beta = p.beta});
}

template <class Space, class T, class C>
void check(Problem const& p, std::mt19937& random) {
  Matrices<T, T, C> const x(p, random);
  CHECK(distance(p, x, formed_by_gemm<Space>(p, x)) <= 1);
  CHECK(distance(p, x, formed_by_teams<Space>(p, x)) <= 1);
}

/// Products of float and bf16, as in attention: only by teams and by host tiles.
template <class Space, class C>
void check_mixed(Problem const& p, std::mt19937& random) {
  Matrices<float, bf16, C> const x(p, random);
  CHECK(distance(p, x, formed_by_teams<Space>(p, x)) <= 1);
  auto c = x.c;
  form_by_tile(p, p.m, x, x.a.data(), c.data());
  CHECK(distance(p, x, c) <= 1);
}

template <class Space, class T, class C>
void check_cuts(Problem const& p, std::mt19937& random) {
  Matrices<T, T, C> const x(p, random);
  auto const same = [](C const& a, C const& b) { return static_cast<float>(a) == static_cast<float>(b); };
  auto const cut = formed_by_gemm<Space>(p, x);
  auto whole = x.c;
  form_by_tile(p, p.m, x, x.a.data(), whole.data());
  for (Index i = 0; i < std::min<Index>(p.m, 21); ++i) {
    auto alone = x.c;
    Index const at = i * x.ldc;
    form_by_tile(p, 1, x, x.a.data() + (p.op_a == Op::none ? i * x.lda : i), alone.data() + at);
    CHECK(std::equal(cut.begin() + at, cut.begin() + at + p.n, whole.begin() + at, same));
    CHECK(std::equal(cut.begin() + at, cut.begin() + at + p.n, alone.begin() + at, same));
  }
}

template <class T>
void check_spread() {
  std::mt19937 random(14);
  Problem const p{.op_a = Op::none, .op_b = Op::none, .m = 9, .n = 33, .k = 35, .alpha = 1, .beta = 0, .spare = 0};
  Matrices<T> x(p, random);
  x.a[4 * x.lda + 34] = T(std::numeric_limits<float>::infinity());
  x.b[2 * x.ldb + 32] = T(std::numeric_limits<float>::quiet_NaN());
  auto const c = formed_by_gemm<Kokkos::DefaultExecutionSpace>(p, x);
  for (Index i = 0; i < p.m; ++i)
    for (Index j = 0; j < p.n; ++j) CHECK(std::isfinite(static_cast<float>(c[i * x.ldc + j])) == (i != 4 && j != 32));
}

#define BELLWETHER_TUPLE_OF_SPACE(Space) std::declval<std::tuple<Space>>(),
using HostSpaces =
    decltype(std::tuple_cat(BELLWETHER_FOR_EACH_HOST_SPACE(BELLWETHER_TUPLE_OF_SPACE) std::declval<std::tuple<>>()));
#undef BELLWETHER_TUPLE_OF_SPACE

}  // namespace

TEMPLATE_LIST_TEST_CASE("a product equals the sum of its terms except for rounding", "", test::Spaces) {
  std::mt19937 random(11);
  for (auto const& p : problems(random)) {
    CAPTURE(p.m, p.n, p.k, p.alpha, p.beta, p.spare, static_cast<int>(p.op_a), static_cast<int>(p.op_b));
    check<TestType, float, float>(p, random);
    check<TestType, double, double>(p, random);
    check<TestType, bf16, float>(p, random);
    check<TestType, bf16, bf16>(p, random);
    check_mixed<TestType, float>(p, random);
    check_mixed<TestType, bf16>(p, random);
  }
}

TEMPLATE_LIST_TEST_CASE("a panel product is bitwise the same for any tiling", "", HostSpaces) {
  std::mt19937 random(13);
  for (auto const& p : problems(random)) {
    CAPTURE(p.m, p.n, p.k, p.alpha, p.beta, p.spare, static_cast<int>(p.op_a), static_cast<int>(p.op_b));
    check_cuts<TestType, bf16, float>(p, random);
    check_cuts<TestType, bf16, bf16>(p, random);
    if (!is_by_blas<float>()) check_cuts<TestType, float, float>(p, random);
  }
}

TEST_CASE("non-finite values stay so and affect only their row or column") {
  check_spread<float>();
  check_spread<bf16>();
}
