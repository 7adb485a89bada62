// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_tile.hpp"
#include "core/gemm/gemm_words.hpp"

#include <memory>
#include <new>

/// Packing of operands for panel products: a panel holds a few columns of op(B), a block holds rows of op(A).
namespace bellwether::product {

inline constexpr int tile_columns = 2 * lanes;
inline constexpr Index panel_words = 256;  ///< words of k per pass
inline constexpr Index block_rows = 512;   ///< rows of A per pass

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
enum class Part { panel, strip, block, sums };

/// Returns a thread-local buffer, allocated at first use and kept: a step allocates nothing.
template <Part part, class Word, Index count>
Word* own_words() {
  thread_local std::unique_ptr<Word, Release<Word>> const words(
      static_cast<Word*>(::operator new[](static_cast<std::size_t>(count) * sizeof(Word), std::align_val_t{64})));
  return words.get();
}

/// Packs up to tile_columns columns of op(B). panel: (words, tile_columns), padded with zeros to whole groups of words.
template <class Words, class Element>
void pack_panel(Operand<Element> const& b, Index k, Index columns, typename Words::Word* panel) {
  Index const words = (k + Words::depth - 1) / Words::depth;
  for (Index p = words; p % Words::group != 0; ++p)
    std::fill_n(panel + p * tile_columns, tile_columns, typename Words::Word{});
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

/// Writes one row of a tile of C, of which t.columns columns exist.
template <class C>
void finish_row(Floats const& first, Floats const& second, Target<C> const& t, C* c) {
  if (t.columns >= tile_columns) {
    finish(first, t, c);
    finish(second, t, c + lanes);
    return;
  }
  C beside[tile_columns];
  if (t.beta != 0) std::copy_n(c, t.columns, beside);
  finish(first, t, beside);
  finish(second, t, beside + lanes);
  std::copy_n(beside, t.columns, c);
}

}  // namespace bellwether::product
