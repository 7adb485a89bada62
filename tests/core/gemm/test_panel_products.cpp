// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm/gemm_panels.hpp"
#include "tests/core/gemm/products.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstring>

using namespace bellwether;
using namespace bellwether::test;

namespace {

/// Multiplies with one type of words; MatrixUnitWords stands for the matrix unit.
struct MatrixUnitWords {};
template <class Words, class A, class B, class C>
void multiply(Problem const& p, Matrices<A, B, C> const& x, C* c, float* row_sums = nullptr) {
  product::Operand<A> const a{p.op_a, x.a.data(), x.lda};
  product::Operand<B> const b{p.op_b, x.b.data(), x.ldb};
  Matrix<C> const to{c, x.ldc};
  Scaling<float> const scaling{p.alpha, p.beta};
  if constexpr (std::is_same_v<Words, MatrixUnitWords>) {
#if defined(BELLWETHER_AMX)
    product::multiply_by_matrix_unit(a, b, {p.m, p.n, p.k}, to, scaling, row_sums);
#endif
  } else if constexpr (std::is_same_v<C, float>) {
    product::multiply<Words>(a, b, {p.m, p.n, p.k}, to, scaling, row_sums);
  } else {
    product::multiply<Words>(a, b, {p.m, p.n, p.k}, to, scaling);
  }
}

template <class Words, class A, class B, class C>
void check(Problem const& p, std::mt19937& random) {
  Matrices<A, B, C> const x(p, random);
  auto c = x.c;
  multiply<Words>(p, x, c.data());
  CHECK(distance(p, x, c) <= 1);
}

/// With row sums of a transposed operand: the product is bitwise the same, and the sums are added.
template <class Words, class T>
void check_row_sums(Problem const& p, std::mt19937& random) {
  Matrices<T, T, float> const x(p, random);
  auto plain = x.c, c = x.c;
  std::vector<float> sums(static_cast<std::size_t>(p.m) + 1, 0.5f);
  multiply<Words>(p, x, plain.data());
  multiply<Words>(p, x, c.data(), sums.data());
  CHECK(std::memcmp(c.data(), plain.data(), c.size() * sizeof(float)) == 0);
  double worst = 0;
  for (Index i = 0; i < p.m; ++i) {
    double sum = 0.5, magnitude = 0.5;
    for (Index l = 0; l < p.k; ++l) {
      sum += x.a_at(p, i, l);
      magnitude += std::abs(x.a_at(p, i, l));
    }
    double const allowed = std::numeric_limits<float>::epsilon() * static_cast<double>(p.k + 2) * magnitude;
    worst = larger(worst, (sums[static_cast<std::size_t>(i)] - sum) / allowed);
  }
  CHECK(worst <= 1);
  CHECK(sums.back() == 0.5f);
}

template <class Words>
void check_rounded(Problem const& p, std::mt19937& random) {
  check<Words, bf16, bf16, float>(p, random);
  check<Words, bf16, bf16, bf16>(p, random);
  check<Words, float, bf16, bf16>(p, random);
}

}  // namespace

/// Calls test(words) with every word type for bf16, including those that this CPU's products do not use.
template <class Test>
void for_each_rounding_words(Test const& test) {
  test(product::RoundedWords{});
  test(product::CpuWords{});
#if defined(BELLWETHER_AMX)
  if (product::has_matrix_unit()) test(MatrixUnitWords{});
#endif
}

TEST_CASE("panel products equal the sums of their terms") {
  std::mt19937 random(15);
  for (auto const& p : problems(random)) {
    CAPTURE(p.m, p.n, p.k, p.alpha, p.beta, p.spare, static_cast<int>(p.op_a), static_cast<int>(p.op_b));
    check<product::FloatWords, float, float, float>(p, random);
    for_each_rounding_words([&]<class Words>(Words) { check_rounded<Words>(p, random); });
    if (p.op_a != Op::transpose) continue;
    check_row_sums<product::FloatWords, float>(p, random);
    for_each_rounding_words([&]<class Words>(Words) { check_row_sums<Words, bf16>(p, random); });
  }
}

TEST_CASE("blocks of a product follow the sizes of the caches") {
  auto const zen4 = product::Blocking::of_caches(Index{32} << 10, Index{1} << 20);
  auto const unknown = product::Blocking::of_caches(-1, 0);
  auto const large = product::Blocking::of_caches(Index{48} << 10, Index{2} << 20);
  CHECK(unknown.words == zen4.words);
  CHECK(unknown.rows <= zen4.rows);
  CHECK(large.words > zen4.words);
  CHECK(large.rows * large.words * 4 <= Index{1} << 20);
  for (auto const& sizes : {zen4, large})
    for (Index const m : {Index{1}, sizes.rows - 1, sizes.rows, sizes.rows + 1, 5 * sizes.rows + 3}) {
      CAPTURE(sizes.rows, m);
      Index const rows = sizes.rows_of(m);
      CHECK(rows % product::tile_rows == 0);
      CHECK(rows <= sizes.rows);
      CHECK((m + rows - 1) / rows == (m + sizes.rows - 1) / sizes.rows);
    }
}

TEST_CASE("products on the matrix unit are the sums that its manual describes") {
#if defined(BELLWETHER_AMX)
  if (!product::has_matrix_unit()) SKIP("this CPU has no matrix unit for bf16, or the system does not allow its use");
  std::mt19937 random(16);
  for (auto p : problems(random)) {
    p.alpha = 1;
    p.beta = 0;
    CAPTURE(p.m, p.n, p.k, p.spare, static_cast<int>(p.op_a), static_cast<int>(p.op_b));
    Matrices<bf16, bf16, float> const x(p, random);
    auto c = x.c;
    multiply<MatrixUnitWords>(p, x, c.data());
    for (Index i = 0; i < p.m; ++i)
      for (Index j = 0; j < p.n; ++j) {
        float expected = 0;
        constexpr Index instruction = 32;
        for (Index l = 0; l < p.k; l += instruction) {
          float even = 0, odd = 0;
          for (Index e = l; e < std::min(p.k, l + instruction); ++e) {
            float& half = (e - l) % 2 == 0 ? even : odd;
            half = std::fma(static_cast<float>(x.a_at(p, i, e)), static_cast<float>(x.b_at(p, e, j)), half);
          }
          expected += even + odd;
        }
        CHECK(c[static_cast<std::size_t>(i * x.ldc + j)] == expected);
      }
  }
#else
  SKIP("this build has no products for a matrix unit");
#endif
}
