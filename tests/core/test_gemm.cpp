// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm.hpp"
#include "core/team_product.hpp"
#include "tests/core/products.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace bellwether;
using namespace bellwether::test;

namespace {

/// The product on an execution space, by multiply(exec, a, b, c).
template <class T, class Space, class Multiply>
std::vector<T> formed(Matrices<T> const& x, Multiply const& multiply) {
  Space const exec;
  auto const a = to_space<Space>(x.a), b = to_space<Space>(x.b), c = to_space<Space>(x.c);
  multiply(exec, a.data(), b.data(), c.data());
  exec.fence("bellwether::test::product");
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  return {host.data(), host.data() + host.extent(0)};
}

template <class T, class Space>
std::vector<T> formed_by_gemm(Problem const& p, Matrices<T> const& x, ComputeType type) {
  return formed<T, Space>(x, [&](Space const& exec, T const* a, T const* b, T* c) {
    gemm<T>(exec, p.op_a, p.op_b, p.m, p.n, p.k, static_cast<T>(p.alpha), a, x.lda, b, x.ldb, static_cast<T>(p.beta), c,
            x.ldc, type);
  });
}

template <class T, class Space>
std::vector<T> formed_by_teams(Problem const& p, Matrices<T> const& x, ComputeType type) {
  return formed<T, Space>(x, [&](Space const& exec, T const* a, T const* b, T* c) {
    team_gemm(exec, TeamOperands<T>{p.op_a, p.op_b, p.m, p.n, p.k, a, x.lda, b, x.ldb, type}, static_cast<T>(p.alpha),
              static_cast<T>(p.beta), c, x.ldc);
  });
}

#define BELLWETHER_TUPLE_OF_SPACE(Space) std::declval<std::tuple<Space>>(),
using HostSpaces =
    decltype(std::tuple_cat(BELLWETHER_FOR_EACH_HOST_SPACE(BELLWETHER_TUPLE_OF_SPACE) std::declval<std::tuple<>>()));
#undef BELLWETHER_TUPLE_OF_SPACE

}  // namespace

TEMPLATE_LIST_TEST_CASE("a product is the sum of its terms but for rounding", "", test::Spaces) {
  std::mt19937 random(11);
  for (auto const& p : problems(random)) {
    CAPTURE(p.m, p.n, p.k, p.alpha, p.beta, p.spare, static_cast<int>(p.op_a), static_cast<int>(p.op_b));
    Matrices<float> const x(p, random);
    for (auto const type : {ComputeType::fp32, ComputeType::bf16}) {
      CHECK(distance(p, x, formed_by_gemm<float, TestType>(p, x, type), type) <= 1);
      CHECK(distance(p, x, formed_by_teams<float, TestType>(p, x, type), type) <= 1);
    }
    Matrices<double> const y(p, random);
    CHECK(distance(p, y, formed_by_gemm<double, TestType>(p, y, ComputeType::fp32), ComputeType::fp32) <= 1);
    CHECK(distance(p, y, formed_by_teams<double, TestType>(p, y, ComputeType::fp32), ComputeType::fp32) <= 1);
  }
}

TEMPLATE_LIST_TEST_CASE("a product in bf16 is the same however it is cut, to the bit", "", HostSpaces) {
  std::mt19937 random(13);
  auto const type = ComputeType::bf16;
  for (auto const& p : problems(random)) {
    Matrices<float> const x(p, random);
    auto const cut = formed_by_gemm<float, TestType>(p, x, type);
    auto whole = x.c;
    gemm_tile(p.op_a, p.op_b, p.m, p.n, p.k, p.alpha, x.a.data(), x.lda, x.b.data(), x.ldb, p.beta, whole.data(), x.ldc,
              type);
    for (Index i = 0; i < p.m; ++i) {
      auto alone = x.c;
      Index const at = i * x.ldc;
      gemm_tile(p.op_a, p.op_b, 1, p.n, p.k, p.alpha, x.a.data() + (p.op_a == Op::none ? i * x.lda : i), x.lda,
                x.b.data(), x.ldb, p.beta, alone.data() + at, x.ldc, type);
      CHECK(std::equal(cut.begin() + at, cut.begin() + at + p.n, whole.begin() + at));
      CHECK(std::equal(cut.begin() + at, cut.begin() + at + p.n, alone.begin() + at));
      if (i > 20) break;
    }
  }
}

TEST_CASE("what is not finite stays so, and touches its own row or column alone") {
  for (auto const type : {ComputeType::fp32, ComputeType::bf16}) {
    std::mt19937 random(14);
    Problem const p{.op_a = Op::none, .op_b = Op::none, .m = 9, .n = 33, .k = 35, .alpha = 1, .beta = 0, .spare = 0};
    Matrices<float> x(p, random);
    x.a[4 * x.lda + 34] = std::numeric_limits<float>::infinity();
    x.b[2 * x.ldb + 32] = std::numeric_limits<float>::quiet_NaN();
    auto const c = formed_by_gemm<float, Kokkos::DefaultExecutionSpace>(p, x, type);
    for (Index i = 0; i < p.m; ++i)
      for (Index j = 0; j < p.n; ++j) CHECK(std::isfinite(c[i * x.ldc + j]) == (i != 4 && j != 32));
  }
}
