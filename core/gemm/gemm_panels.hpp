// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_amx.hpp"
#include "core/gemm/gemm_packing.hpp"

/// C = alpha op(A) op(B) + beta C on one host thread, with the blocking of Goto and van de Geijn (ACM TOMS 34, 2008). A
/// panel of B, a few vectors wide, stays in the L1 cache, a block of A in the L2 cache, and a tile of C in registers.
/// An element of C is the same sum in the same order for any tiling. Operands and C are each float or bf16.
namespace bellwether::product {

inline constexpr Index few_rows = 256;  ///< up to this many rows, panels are prefetched
/// Prefetch the operands of the next block if each packed word takes part in at most this many products on average.
inline constexpr Index few_products = 110;

/// Source operands of the next block, to prefetch during the current one.
template <class A, class B>
struct Following {
  Operand<A> a;
  Index rows, a_columns;
  Operand<B> b;
  Index b_rows, columns;
};

/// Multiplies `rows` rows of a tile, of which the last may not exist: `count` is rows or one less.
template <class Words, int rows, class C>
void multiply_tile(Index words, typename Words::Word const* a, typename Words::Word const* panel, Target const& t, C* c,
                   Index count) {
  using Vector = typename Words::Vector;
  for (Index i = 0; i < count; ++i)
    for (int line = 0; line < tile_columns * int(sizeof(C)); line += 64)
      __builtin_prefetch(reinterpret_cast<char const*>(c + i * t.ld) + line, 1);
  Floats sums[rows][2] = {};
  for (Index p = 0; p < words; ++p) {
    auto const b0 = load<Vector>(panel + p * tile_columns), b1 = load<Vector>(panel + p * tile_columns + lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      auto const word = a[p * tile_rows + i];
      sums[i][0] = Words::multiply_add(word, b0, sums[i][0]);
      sums[i][1] = Words::multiply_add(word, b1, sums[i][1]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
    if (i < rows - 1 || count == rows) finish_row(sums[i][0], sums[i][1], t, c + i * t.ld);
}

/// Multiplies the first `count` rows of a packed tile, in pairs: packed rows beyond the operand are zeros.
template <class Words, int rows = tile_rows, class C>
void multiply_rows(Index count, Index words, typename Words::Word const* a, typename Words::Word const* panel,
                   Target const& t, C* c) {
  if constexpr (rows <= 2)
    multiply_tile<Words, rows>(words, a, panel, t, c, count);
  else if (count > rows - 2)
    multiply_tile<Words, rows>(words, a, panel, t, c, std::min<Index>(count, rows));
  else
    multiply_rows<Words, rows - 2>(count, words, a, panel, t, c);
}

/// Multiplies a packed block of m rows by n columns of B, for one part of k.
template <class Words, class A, class B, class C>
void multiply_block(Block<typename Words::Word> const& block, Operand<B> const& b, GemmExtents const& extents,
                    Matrix<C> const& c, Scaling<float> const& scaling, Following<A, B> const& following) {
  Index const rows = extents.m, n = extents.n, k = extents.k, ldc = c.ld;
  float const alpha = scaling.alpha, beta = scaling.beta;
  C* const to = c.at;
  auto* const panel = own_words<Part::panel, typename Words::Word>(Blocking::of_cpu().words * tile_columns);
  Index const words = (k + Words::depth - 1) / Words::depth;
  Index const tiles = rows / tile_rows + 1, all = tiles * (n / tile_columns + 1);
  bool const waits = rows * n <= few_products * (rows + n);
  auto next_a = waits ? fetch_ahead(following.a, following.rows, following.a_columns, all) : FetchAhead<A>();
  auto next_b = waits ? fetch_ahead(following.b, following.b_rows, following.columns, all) : FetchAhead<B>();
  for (Index j = 0; j < n; j += tile_columns) {
    pack_panel<Words>(b.from(0, j), k, n - j, panel);
    Index const beyond = std::min(n, j + tile_columns);
    bool const by_rows = b.op == Op::transpose && rows <= few_rows;
    FetchAhead<B> ahead(b.element(0, beyond), b.ld, by_rows ? std::min<Index>(tile_columns, n - beyond) : 0, k, tiles);
    for (Index i = 0; i < rows; i += tile_rows) {
      ahead.next();
      next_a.next();
      next_b.next();
      multiply_rows<Words>(rows - i, words, block.from(i).at, panel, Target{ldc, n - j, alpha, beta}, to + i * ldc + j);
    }
  }
}

/// row_sums: null, or (m); adds the row sums of a transposed A.
template <class Words, class A, class B>
void multiply(Operand<A> const& a, Operand<B> const& b, GemmExtents const& extents, Matrix<float> const& c,
              Scaling<float> const& scaling, float* row_sums = nullptr) {
  Index const m = extents.m, n = extents.n, k = extents.k;
  Index const depth = Blocking::of_cpu().words * Words::depth, height = Blocking::of_cpu().rows_of(m);
  for (Index k0 = 0; k0 < std::max<Index>(k, 1); k0 += depth) {
    Index const part = std::min(depth, k - k0);
    for (Index i = 0; i < m; i += height) {
      Index const rows = std::min(height, m - i);
      bool const last = i + rows == m;
      Index const next_row = last ? 0 : i + rows, next_k = last ? k0 + part : k0;
      Index const next_part = std::min(depth, k - next_k);
      Following<A, B> const following{a.from(next_row, next_k), std::min(height, m - next_row), next_part,
                                      b.from(next_k, 0),        last ? next_part : 0,           n};
      auto const block = block_of<Words>(a.from(i, k0), rows, part, row_sums == nullptr ? nullptr : row_sums + i);
      multiply_block<Words>(block, b.from(k0, 0), {rows, n, part}, Matrix{c.at + i * c.ld, c.ld},
                            {scaling.alpha, k0 == 0 ? scaling.beta : 1.0f}, following);
    }
  }
}

/// If k has several parts, their sums accumulate in a thread-local float buffer, so that C is rounded once.
template <class Words, class A, class B>
void multiply(Operand<A> const& a, Operand<B> const& b, GemmExtents const& extents, Matrix<bf16> const& c,
              Scaling<float> const& scaling) {
  Index const m = extents.m, n = extents.n, k = extents.k;
  constexpr Index strip = 512;
  Index const depth = Blocking::of_cpu().words * Words::depth, height = Blocking::of_cpu().rows_of(m);
  if (k <= depth) {
    for (Index i = 0; i < m; i += height) {
      Index const rows = std::min(height, m - i);
      Following<A, B> const following{a.from(i + rows, 0), std::min(height, m - i - rows), k, b, 0, 0};
      multiply_block<Words>(block_of<Words>(a.from(i, 0), rows, k, nullptr), b, {rows, n, k},
                            Matrix{c.at + i * c.ld, c.ld}, scaling, following);
    }
    return;
  }
  float* const sums = own_words<Part::sums, float>(Blocking::of_cpu().rows * strip);
  for (Index i = 0; i < m; i += height)
    for (Index j = 0; j < n; j += strip) {
      Index const rows = std::min(height, m - i), columns = std::min(strip, n - j);
      multiply<Words>(a.from(i, 0), b.from(0, j), {rows, columns, k}, Matrix{sums, strip}, {.alpha = scaling.alpha});
      for (Index r = 0; r < rows; ++r) {
        bf16* const to = c.at + (i + r) * c.ld + j;
        float const* const from = sums + r * strip;
        for (Index l = 0; l < columns; ++l)
          to[l] = bf16(scaling.beta == 0 ? from[l] : float(to[l]) * scaling.beta + from[l]);
      }
    }
}

}  // namespace bellwether::product
