// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_tile.hpp"
#include "core/gemm/gemm_words.hpp"

#include <memory>
#include <new>

/// C = alpha op(A) op(B) + beta C on one host thread, with the blocking of Goto and van de Geijn (ACM TOMS 34, 2008). A
/// panel of B, a few vectors wide, stays in the L1 cache, a block of A in the L2 cache, and a tile of C in registers.
/// An element of C is the same sum in the same order for any tiling. Operands and C are each float or bf16.
namespace bellwether::product {

inline constexpr int tile_rows = lanes == 16 ? 8 : 6;  ///< with two vectors per row, this fills the registers
inline constexpr int tile_columns = 2 * lanes;
inline constexpr Index panel_words = 256;  ///< words of k per pass
inline constexpr Index block_rows = 512;   ///< rows of A per pass
inline constexpr Index few_rows = 256;     ///< up to this many rows, panels are prefetched
/// Prefetch the operands of the next block if each packed word takes part in at most this many products on average.
inline constexpr Index few_products = 110;

/// Operand op(A) (m, k) or op(B) (k, n), row-major.
template <class Element>
struct Operand {
  Op op;
  Element const* at;
  Index ld;

  /// Returns the address of element (row, column) of op(X).
  Element const* element(Index row, Index column) const {
    return op == Op::none ? at + row * ld + column : at + column * ld + row;
  }
  Operand from(Index row, Index column) const { return {op, element(row, column), ld}; }
};

template <class Word>
struct Release {
  void operator()(Word* words) const { ::operator delete[](words, std::align_val_t{64}); }
};

/// Use of a thread-local buffer of words.
enum class Part { panel, block, sums };

/// Returns a thread-local buffer, allocated at first use and kept: a step allocates nothing.
template <Part part, class Word, Index count>
Word* own_words() {
  thread_local std::unique_ptr<Word, Release<Word>> const words(
      static_cast<Word*>(::operator new[](static_cast<std::size_t>(count) * sizeof(Word), std::align_val_t{64})));
  return words.get();
}

/// Packs up to tile_columns columns of op(B). panel: (words, tile_columns), padded with zeros.
template <class Words, class Element>
void pack_panel(Operand<Element> const& b, Index k, Index columns, typename Words::Word* panel) {
  Index const words = (k + Words::depth - 1) / Words::depth;
  if (b.op == Op::none) {
    for (Index p = 0; p < words; ++p)
      for (Index j = 0; j < tile_columns; j += lanes)
        store(Words::across(b.element(p * Words::depth, j), b.ld, k - p * Words::depth, columns - j),
              panel + p * tile_columns + j);
    return;
  }
  for (Index j = 0; j < tile_columns; j += lanes)
    for (Index p = 0; p < words; p += lanes) {
      typename Words::Vector rows[lanes] = {};
      for (Index i = 0; i < std::min<Index>(lanes, columns - j); ++i)
        rows[i] = Words::along(b.element(p * Words::depth, j + i), k - p * Words::depth);
      transpose(rows);
      for (Index i = 0; i < std::min(lanes + Index{0}, words - p); ++i)
        store(rows[i], panel + (p + i) * tile_columns + j);
    }
}

/// Packed words of op(A), with the strides of rows and of words of k.
template <class Word>
struct Block {
  Word const* at;
  Index row, word;

  Block from(Index i) const { return {at + i * row, row, word}; }
};

/// Packs `rows` rows and k columns of op(A). The strides are no powers of two, because neighbours would then compete
/// for the same cache sets. `row_sums`: null, or (rows); adds the row sums of a transposed A while packing.
template <class Words, class Element>
Block<typename Words::Word> block_of(Operand<Element> const& a, Index rows, Index k, float* row_sums) {
  using Word = typename Words::Word;
  constexpr Index along = panel_words + 16, across = block_rows + 16;
  Word* const block = own_words<Part::block, Word, std::max(along * block_rows, across * panel_words)>();
  if (a.op == Op::none) {
    for (Index i = 0; i < rows; ++i)
      for (Index p = 0; p * Words::depth < k; p += lanes)
        store(Words::along(a.element(i, p * Words::depth), k - p * Words::depth), block + i * along + p);
    return {block, along, 1};
  }
  auto const pack = [&](auto const& seen) {
    for (Index p = 0; p * Words::depth < k; ++p)
      for (Index i = 0; i < rows; i += lanes) {
        auto const words = Words::across(a.element(i, p * Words::depth), a.ld, k - p * Words::depth, rows - i);
        store(words, block + p * across + i);
        seen(i, words);
      }
  };
  if (row_sums == nullptr) {
    pack([](Index, auto const&) {});
  } else {
    alignas(64) float sums[block_rows] = {};
    pack([&](Index i, auto const& words) { store(load<Floats>(sums + i) + Words::sums(words), sums + i); });
    for (Index i = 0; i < rows; ++i) row_sums[i] += sums[i];
  }
  return {block, 1, across};
}

/// Prefetches `rows` rows of `length` elements in `shares` equal steps during a multiplication. Where each packed word
/// takes part in few products, packing is dominated by memory latency.
template <class Element>
class FetchAhead {
 public:
  FetchAhead() = default;
  FetchAhead(Element const* at, Index ld, Index rows, Index length, Index shares)
      : at_(at),
        ld_(ld),
        rows_(rows),
        length_(length),
        share_((rows * ((length + line - 1) / line) + shares - 1) / shares) {}
  void next() {
    for (Index i = 0; i < share_ && row_ < rows_; ++i) {
      __builtin_prefetch(at_ + row_ * ld_ + column_, 0, 2);
      column_ += line;
      if (column_ < length_) continue;
      column_ = 0;
      ++row_;
    }
  }

 private:
  static constexpr Index line = 64 / sizeof(Element);
  Element const* at_ = nullptr;
  Index ld_ = 0, rows_ = 0, length_ = 0, share_ = 0, row_ = 0, column_ = 0;
};

/// The same for `rows` rows and `columns` columns of an operand.
template <class Element>
FetchAhead<Element> fetch_ahead(Operand<Element> const& of, Index rows, Index columns, Index shares) {
  if (of.op == Op::transpose) std::swap(rows, columns);
  return {of.at, of.ld, rows, columns, shares};
}

/// Source operands of the next block, to prefetch during the current one.
template <class A, class B>
struct Following {
  Operand<A> a;
  Index rows, a_columns;
  Operand<B> b;
  Index b_rows, columns;
};

/// A tile of C: (rows, tile_columns) at c; `columns` columns exist.
template <class C>
struct Target {
  C* c;
  Index ld, columns;
  float alpha, beta;
};

/// Writes one vector of C: alpha sum + beta C.
template <class C>
void finish(Floats const& sum, Target<C> const& t, C* c) {
  Floats const product = sum * t.alpha;
  store_rounded(t.beta == 0 ? product : floats(c, lanes) * t.beta + product, c);
}

template <class Words, int rows, class C>
void multiply_tile(Index words, Block<typename Words::Word> const& a, typename Words::Word const* panel,
                   Target<C> const& t) {
  using Vector = typename Words::Vector;
  for (int i = 0; i < rows; ++i)
    for (int line = 0; line < tile_columns * int(sizeof(C)); line += 64)
      __builtin_prefetch(reinterpret_cast<char const*>(t.c + i * t.ld) + line, 1);
  Floats sums[rows][2] = {};
  for (Index p = 0; p < words; ++p) {
    auto const b0 = load<Vector>(panel + p * tile_columns), b1 = load<Vector>(panel + p * tile_columns + lanes);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      auto const word = a.at[i * a.row + p * a.word];
      sums[i][0] = Words::multiply_add(word, b0, sums[i][0]);
      sums[i][1] = Words::multiply_add(word, b1, sums[i][1]);
    }
  }
  bool const whole = t.columns >= tile_columns;
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
    C* const c = t.c + i * t.ld;
    C beside[tile_columns];
    C* const at = whole ? c : beside;
    if (!whole && t.beta != 0) std::copy_n(c, t.columns, beside);
    finish(sums[i][0], t, at);
    finish(sums[i][1], t, at + lanes);
    if (!whole) std::copy_n(beside, t.columns, c);
  }
}

template <class Words, int rows = tile_rows, class C>
void multiply_rows(Index count, Index words, Block<typename Words::Word> const& a, typename Words::Word const* panel,
                   Target<C> const& t) {
  if constexpr (rows > 0) {
    if (count >= rows)
      multiply_tile<Words, rows>(words, a, panel, t);
    else
      multiply_rows<Words, rows - 1>(count, words, a, panel, t);
  }
}

/// Multiplies a packed block of `rows` rows by n columns of B, for one part of k.
template <class Words, class A, class B, class C>
void multiply_block(Block<typename Words::Word> const& block, Operand<B> const& b, Index rows, Index n, Index k,
                    float alpha, float beta, C* c, Index ldc, Following<A, B> const& following) {
  auto* const panel = own_words<Part::panel, typename Words::Word, panel_words * tile_columns>();
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
      multiply_rows<Words>(rows - i, words, block.from(i), panel, Target<C>{c + i * ldc + j, ldc, n - j, alpha, beta});
    }
  }
}

/// row_sums: null, or (m); adds the row sums of a transposed A.
template <class Words, class A, class B>
void multiply(Operand<A> const& a, Operand<B> const& b, Index m, Index n, Index k, float alpha, float beta, float* c,
              Index ldc, float* row_sums = nullptr) {
  constexpr Index depth = panel_words * Words::depth;
  for (Index k0 = 0; k0 < std::max<Index>(k, 1); k0 += depth) {
    Index const part = std::min(depth, k - k0);
    for (Index i = 0; i < m; i += block_rows) {
      Index const rows = std::min(block_rows, m - i);
      bool const last = i + rows == m;
      Index const next_row = last ? 0 : i + rows, next_k = last ? k0 + part : k0;
      Index const next_part = std::min(depth, k - next_k);
      Following<A, B> const following{a.from(next_row, next_k),
                                      std::min(block_rows, m - next_row),
                                      next_part,
                                      b.from(next_k, 0),
                                      last ? next_part : 0,
                                      n};
      auto const block = block_of<Words>(a.from(i, k0), rows, part, row_sums == nullptr ? nullptr : row_sums + i);
      multiply_block<Words>(block, b.from(k0, 0), rows, n, part, alpha, k0 == 0 ? beta : 1.0f, c + i * ldc, ldc,
                            following);
    }
  }
}

/// If k has several parts, their sums accumulate in a thread-local float buffer, so that C is rounded once.
template <class Words, class A, class B>
void multiply(Operand<A> const& a, Operand<B> const& b, Index m, Index n, Index k, float alpha, float beta, bf16* c,
              Index ldc) {
  constexpr Index depth = panel_words * Words::depth, strip = 512;
  if (k <= depth) {
    for (Index i = 0; i < m; i += block_rows) {
      Index const rows = std::min(block_rows, m - i);
      Following<A, B> const following{a.from(i + rows, 0), std::min(block_rows, m - i - rows), k, b, 0, 0};
      multiply_block<Words>(block_of<Words>(a.from(i, 0), rows, k, nullptr), b, rows, n, k, alpha, beta, c + i * ldc,
                            ldc, following);
    }
    return;
  }
  float* const sums = own_words<Part::sums, float, block_rows * strip>();
  for (Index i = 0; i < m; i += block_rows)
    for (Index j = 0; j < n; j += strip) {
      Index const rows = std::min(block_rows, m - i), columns = std::min(strip, n - j);
      multiply<Words>(a.from(i, 0), b.from(0, j), rows, columns, k, alpha, 0.0f, sums, strip);
      for (Index r = 0; r < rows; ++r) {
        bf16* const to = c + (i + r) * ldc + j;
        float const* const from = sums + r * strip;
        for (Index l = 0; l < columns; ++l) to[l] = bf16(beta == 0 ? from[l] : float(to[l]) * beta + from[l]);
      }
    }
}

}  // namespace bellwether::product
