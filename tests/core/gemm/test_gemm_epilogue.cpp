// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm/gemm_epilogue.hpp"
#include "core/gemm/team_epilogue.hpp"
#include "tests/core/gemm/products.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/spaces.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include <string>

using namespace bellwether;
using namespace bellwether::test;

namespace {

template <class T>
using Kind = typename Epilogue<T>::Kind;

/// The tanh approximation of GELU and its slope, from the papers.
double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}
double slope(double x) {
  double const root = std::sqrt(2 / 3.14159265358979323846), t = std::tanh(root * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

template <class T>
std::vector<T> random_elements(Index count, std::uint64_t seed) {
  std::vector<T> values;
  for (double const value : random_values(count, seed, 2)) values.push_back(T(static_cast<SumOf<T>>(value)));
  return values;
}

template <class Space, class T>
struct Fused {
  Fused(Space const& exec, Kind<T> kind, Problem const& p, Matrices<T> const& x, bool by_teams) {
    bool const slopes = kind == Kind<T>::gelu_slope;
    auto const a = to_space<Space>(x.a), b = to_space<Space>(x.b), to = to_space<Space>(x.c);
    bias = random_elements<T>(p.n, 1);
    at = random_elements<T>(p.m * p.n, 2);
    auto const added = to_space<Space>(bias), given = to_space<Space>(at), kept = zeros<Space, T>(p.m * p.n);
    Epilogue<T> const epilogue{.kind = kind,
                               .bias = slopes ? nullptr : added.data(),
                               .pre = kind == Kind<T>::bias_gelu ? kept.data() : nullptr,
                               .at = slopes ? given.data() : nullptr};
    T const *const left = a.data(), *const right = b.data();
    if (by_teams)
      team_gemm_with(exec, epilogue, TeamOperands<T, T>{p.op_a, p.op_b, p.m, p.n, p.k, left, x.lda, right, x.ldb},
                     to.data(), x.ldc);
    else
      done = gemm_with(exec, epilogue, {p.op_a, p.op_b, p.m, p.n, p.k}, ConstMatrix{left, x.lda},
                       ConstMatrix{right, x.ldb}, Matrix{to.data(), x.ldc});
    exec.fence("bellwether::test::product");
    c = to_host(to);
    pre = to_host(kept);
  }
  bool done = true;
  std::vector<T> bias, at;
  std::vector<double> c, pre;
};

/// Returns the maximum error relative to the definition in double, in units of the allowed rounding error.
template <class Space, class T>
double off(Kind<T> kind, Problem const& p, Matrices<T> const& x, Fused<Space, T> const& found) {
  // The float GELU has an error of 2e-7, and its slope is at most 1.13.
  double const epsilon = std::numeric_limits<SumOf<T>>::epsilon();
  // A library may also round the sum to bf16, and has its own GELU.
  constexpr bool library = !TeamShape<Space>::on_host;
  double const own = std::is_same_v<T, double> ? 1e-15 : library ? 2e-6 : 1e-6;
  double largest = 0;
  auto const compare = [&](double value, double exact, double sum, double allowed) {
    if (std::is_same_v<T, bf16>) allowed += (std::abs(exact) + (library ? std::abs(sum) : 0)) * 0x1p-8;
    double const difference = std::abs(value - exact);
    largest = larger(largest, difference == 0 ? 0 : difference / allowed);
  };
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      auto const e = static_cast<std::size_t>(i * p.n + j);
      double const sum = x.sums[e], magnitude = 2 + x.magnitudes[e];
      double const c = found.c[static_cast<std::size_t>(i * x.ldc + j)];
      double const allowed = 2 * (epsilon * static_cast<double>(p.k + 2) * magnitude + own * (1 + std::abs(sum)));
      if (kind == Kind<T>::gelu_slope) {
        compare(c, sum * slope(static_cast<double>(found.at[e])), sum, allowed);
        continue;
      }
      double const biased = sum + static_cast<double>(found.bias[static_cast<std::size_t>(j)]);
      compare(c, kind == Kind<T>::bias ? biased : gelu(biased), sum, allowed);
      if (kind == Kind<T>::bias_gelu) compare(found.pre[e], biased, sum, allowed);
    }
    for (Index j = p.n; j < x.ldc; ++j)
      if (!std::isnan(found.c[static_cast<std::size_t>(i * x.ldc + j)])) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

template <class Space, class T>
void check(Problem const& p, std::mt19937& random) {
  Space const exec;
  Matrices<T> const x(p, random);
  for (auto const kind : {Kind<T>::bias, Kind<T>::bias_gelu, Kind<T>::gelu_slope}) {
    CAPTURE(static_cast<int>(kind), sizeof(T));
    CHECK(off(kind, p, x, Fused<Space, T>(exec, kind, p, x, true)) <= 1);
    Fused<Space, T> const by_space(exec, kind, p, x, false);
    if (by_space.done)
      CHECK(off(kind, p, x, by_space) <= 1);
    else
      CHECK(std::ranges::all_of(by_space.c, [](double value) { return std::isnan(value); }));
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a product with an epilogue equals its definition, or nothing is done", "", Spaces) {
  std::mt19937 random(31);
  for (auto const& of_all : problems(random)) {
    if (of_all.m * of_all.n * of_all.k > 300'000) continue;  // the reference is slow
    Problem p = of_all;
    p.alpha = 1;
    p.beta = 0;
    CAPTURE(p.m, p.n, p.k, p.spare, static_cast<int>(p.op_a), static_cast<int>(p.op_b));
    check<TestType, float>(p, random);
    check<TestType, double>(p, random);
    check<TestType, bf16>(p, random);
  }
}

TEMPLATE_LIST_TEST_CASE("host spaces support epilogues only on the device path", "", Spaces) {
  using Space = TestType;
  std::mt19937 random(32);
  Problem const p{.op_a = Op::none, .op_b = Op::transpose, .m = 3, .n = 8, .k = 4, .alpha = 1, .beta = 0, .spare = 0};
  Matrices<float> const x(p, random);
  bool const done = Fused<Space, float>(Space(), Kind<float>::bias, p, x, false).done;
  if (TeamShape<Space>::on_host) CHECK(done == !TeamShape<Space>::host);
}
