// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_tile.hpp"
#include "tests/support/larger.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

/// Test problems for products, and the error of a result relative to sums in double. Does not include Kokkos, because
/// the host compiler alone compiles host products.
namespace bellwether::test {

struct Problem {
  Op op_a, op_b;
  Index m, n, k;
  float alpha, beta;
  Index spare;  ///< padding elements per row
};

/// Rounds to 8 significant bits, ties to even.
inline double rounded_to_bf16(double value) {
  int exponent = 0;
  double const fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

/// Operands and result, whose rows have padding of NaN that no product may read or write.
template <class A, class B = A, class C = A>
struct Matrices {
  Matrices(Problem const& p, std::mt19937& random)
      : lda((p.op_a == Op::none ? p.k : p.m) + p.spare),
        ldb((p.op_b == Op::none ? p.n : p.k) + p.spare),
        ldc(p.n + p.spare),
        a(filled<A>(p.op_a == Op::none ? p.m : p.k, lda, p.spare, random)),
        b(filled<B>(p.op_b == Op::none ? p.k : p.n, ldb, p.spare, random)),
        c(filled<C>(p.m, ldc, p.spare, random)) {
    if (p.beta == 0) std::fill(c.begin(), c.end(), C(std::numeric_limits<SumOf<C>>::quiet_NaN()));
    add_up(p);
  }
  template <class T>
  static std::vector<T> filled(Index rows, Index ld, Index spare, std::mt19937& random) {
    using Real = SumOf<T>;
    std::uniform_real_distribution<Real> uniform(-1, 1);
    std::vector<T> values(static_cast<std::size_t>(rows * ld));
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < ld; ++j)
        values[i * ld + j] = T(j < ld - spare ? uniform(random) : std::numeric_limits<Real>::quiet_NaN());
    return values;
  }
  /// Returns an element of op(A); a float is rounded if B is bf16.
  double a_at(Problem const& p, Index i, Index l) const {
    double const value = a[p.op_a == Op::none ? i * lda + l : l * lda + i];
    return std::is_same_v<B, bf16> ? rounded_to_bf16(value) : value;
  }
  double b_at(Problem const& p, Index l, Index j) const { return p.op_b == Op::none ? b[l * ldb + j] : b[j * ldb + l]; }
  /// Computes op(A) op(B) in double, and the sums of the absolute terms. Loops over rows of op(B), which vectorises:
  /// this takes most of a test's time.
  void add_up(Problem const& p) {
    std::vector<double> right(static_cast<std::size_t>(p.k * p.n));
    for (Index l = 0; l < p.k; ++l)
      for (Index j = 0; j < p.n; ++j) right[l * p.n + j] = b_at(p, l, j);
    sums.assign(static_cast<std::size_t>(p.m * p.n), 0);
    magnitudes = sums;
    for (Index i = 0; i < p.m; ++i) {
      double* const sum = sums.data() + i * p.n;
      double* const magnitude = magnitudes.data() + i * p.n;
      for (Index l = 0; l < p.k; ++l) {
        double const u = a_at(p, i, l);
        double const* const v = right.data() + l * p.n;
        for (Index j = 0; j < p.n; ++j) {
          sum[j] += u * v[j];
          magnitude[j] += std::abs(u * v[j]);
        }
      }
    }
  }

  Index lda, ldb, ldc;
  std::vector<A> a;
  std::vector<B> b;
  std::vector<C> c;
  std::vector<double> sums, magnitudes;  ///< (m, n)
};

/// Returns the maximum error relative to the allowed rounding error: epsilon (k + 2) sum |a b|, plus the rounding
/// of the result to bf16.
template <class A, class B, class C>
double distance(Problem const& p, Matrices<A, B, C> const& x, std::vector<C> const& c) {
  double largest = 0;
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      double const magnitude = std::abs(p.beta) + std::abs(p.alpha) * x.magnitudes[i * p.n + j];
      double const exact = p.alpha * x.sums[i * p.n + j] + (p.beta == 0 ? 0 : p.beta * x.c[i * x.ldc + j]);
      double const rounding = std::is_same_v<C, bf16> ? std::abs(exact) * 0x1p-8 : 0;
      double const allowed =
          std::numeric_limits<SumOf<C>>::epsilon() * static_cast<double>(p.k + 2) * magnitude + rounding;
      double const difference = std::abs(c[i * x.ldc + j] - exact), off = difference == 0 ? 0 : difference / allowed;
      largest = larger(largest, off);
    }
    for (Index j = p.n; j < x.ldc; ++j)
      if (!std::isnan(static_cast<double>(c[i * x.ldc + j]))) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

/// All operand forms, and all partial tiles: one element, and one more or less than a vector, a tile, a panel.
inline std::vector<Problem> problems(std::mt19937& random) {
  std::vector<Problem> all;
  std::vector<Index> const extents{1, 2, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130};
  std::vector<Index> const depths{0, 1, 2, 3, 16, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1030};
  auto const one_of = [&](auto const& choices) { return choices[random() % choices.size()]; };
  for (int i = 0; i < 240; ++i) {
    bool const accumulates = i % 2 == 1;
    all.push_back({.op_a = (i & 4) != 0 ? Op::transpose : Op::none,
                   .op_b = (i & 8) != 0 ? Op::transpose : Op::none,
                   .m = one_of(extents),
                   .n = one_of(extents),
                   .k = one_of(depths),
                   .alpha = (i & 16) != 0 ? 0.125f : 1.0f,
                   .beta = accumulates ? ((i & 32) != 0 ? -0.5f : 1.0f) : 0.0f,
                   .spare = static_cast<Index>(random() % 4)});
  }
  all.push_back(
      {.op_a = Op::none, .op_b = Op::transpose, .m = 700, .n = 70, .k = 40, .alpha = 1, .beta = 0, .spare = 0});
  // Wider than the float buffer of sums that is used if k has several parts.
  all.push_back(
      {.op_a = Op::none, .op_b = Op::transpose, .m = 260, .n = 1060, .k = 530, .alpha = 1, .beta = 0, .spare = 1});
  // More of k than a packed strip of B for the matrix unit, with two strips.
  all.push_back({.op_a = Op::none, .op_b = Op::none, .m = 20, .n = 260, .k = 8300, .alpha = 1, .beta = 0, .spare = 0});
  all.push_back(
      {.op_a = Op::transpose, .op_b = Op::none, .m = 600, .n = 40, .k = 70, .alpha = 1, .beta = 1, .spare = 0});
  return all;
}

}  // namespace bellwether::test
