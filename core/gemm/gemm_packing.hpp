// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_tile.hpp"
#include "core/gemm/gemm_words.hpp"

#include <unistd.h>

#include <memory>
#include <new>

/// Packing of operands for panel products: a panel holds a few columns of op(B), a block holds rows of op(A).
namespace bellwether::product {

inline constexpr int tile_columns = 2 * lanes;
/// With two vectors per row, this fills the registers. A packed vector holds all rows of a tile.
inline constexpr int tile_rows = lanes == 16 ? 14 : lanes == 8 ? 6 : 4;
static_assert(tile_rows <= lanes);

/// Sizes of packed operands: a panel of B and a tile's rows of A share the L1 cache, a block of A half the L2 cache.
struct Blocking {
  Index words = 256;                         ///< of k per pass
  Index rows = 504 / tile_rows * tile_rows;  ///< of A per block, at most

  /// Returns the sizes for caches of so many bytes. Smaller caches than those of Zen 4 get its sizes.
  static Blocking of_caches(Index l1, Index l2) {
    constexpr Index word_bytes = 4;
    Blocking sizes;
    if (l1 >= Index{48} << 10) sizes.words = 384;
    sizes.rows = std::max(sizes.rows, l2 / (2 * word_bytes * sizes.words) / tile_rows * tile_rows);
    return sizes;
  }
  /// Returns the sizes for this CPU.
  static Blocking const& of_cpu() {
    static Blocking const sizes = of_caches(sysconf(_SC_LEVEL1_DCACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
    return sizes;
  }
  /// Returns the rows of each block of m rows: equal, and whole tiles.
  Index rows_of(Index m) const {
    Index const blocks = std::max<Index>(1, (m + rows - 1) / rows), each = (m + blocks - 1) / blocks;
    return (each + tile_rows - 1) / tile_rows * tile_rows;
  }
};

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

/// Use of a thread-local buffer of words. The last three are for the matrix unit.
enum class Part { panel, block, sums, row_sums, strip, tiles, tile_sums };

/// Returns a thread-local buffer. All calls for a part and a type of words ask for the same `count`. The buffer is
/// allocated at first use and kept: a step allocates nothing.
template <Part part, class Word>
Word* own_words(Index count) {
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

/// Packed rows of op(A), in tiles of tile_rows rows: (words, tile_rows) each, and the distance of tiles in words.
template <class Word>
struct Block {
  Word const* at;
  Index tile;

  Block from(Index i) const { return {at + i / tile_rows * tile, tile}; }
};

/// Packs `rows` rows and k columns of op(A). A vector holds more than the rows of a tile. Its last elements lie where
/// the next word follows, or in the space between tiles.
/// row_sums: null, or (rows); adds the row sums of a transposed A.
template <class Words, class Element>
Block<typename Words::Word> block_of(Operand<Element> const& a, Index rows, Index k, float* row_sums) {
  using Word = typename Words::Word;
  constexpr Index between = lanes;
  Blocking const& most = Blocking::of_cpu();
  Index const most_tiles = most.rows / tile_rows;
  Word* const block = own_words<Part::block, Word>(most_tiles * (most.words * tile_rows + between));
  Index const words = (k + Words::depth - 1) / Words::depth, tile = words * tile_rows + between;
  if (a.op == Op::none) {
    for (Index i = 0; i < rows; i += tile_rows)
      for (Index p = 0; p < words; p += lanes) {
        typename Words::Vector square[lanes] = {};
        for (Index r = 0; r < std::min<Index>(tile_rows, rows - i); ++r)
          square[r] = Words::along(a.element(i + r, p * Words::depth), k - p * Words::depth);
        transpose(square);
        Word* const to = block + i / tile_rows * tile + p * tile_rows;
        for (Index q = 0; q < std::min<Index>(lanes, words - p); ++q) store(square[q], to + q * tile_rows);
      }
    return {block, tile};
  }
  float* const sums = own_words<Part::row_sums, float>(most_tiles * lanes);
  std::fill_n(sums, most_tiles * lanes, 0.0f);
  for (Index p = 0; p < words; ++p)
    for (Index i = 0; i < rows; i += tile_rows) {
      auto const row = Words::across(a.element(i, p * Words::depth), a.ld, k - p * Words::depth, rows - i);
      float* const sum = sums + i / tile_rows * lanes;
      if (row_sums != nullptr) store(load<Floats>(sum) + Words::sums(row), sum);
      store(row, block + i / tile_rows * tile + p * tile_rows);
    }
  if (row_sums != nullptr)
    for (Index i = 0; i < rows; ++i) row_sums[i] += sums[i / tile_rows * lanes + i % tile_rows];
  return {block, tile};
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

/// How a tile of C is written: alpha sums + beta C. `columns` columns exist.
struct Target {
  Index ld, columns;
  float alpha, beta;
};

/// Writes one vector of C: alpha sum + beta C.
template <class C>
void finish(Floats const& sum, Target const& t, C* c) {
  Floats const product = sum * t.alpha;
  store_rounded(t.beta == 0 ? product : floats(c, lanes) * t.beta + product, c);
}

/// Writes the columns of one row of a tile of C that exist.
template <class C>
[[gnu::noinline]] void finish_part(Floats const& first, Floats const& second, Target const& t, C* c) {
  C beside[tile_columns];
  if (t.beta != 0) std::copy_n(c, t.columns, beside);
  finish(first, t, beside);
  finish(second, t, beside + lanes);
  std::copy_n(beside, t.columns, c);
}

/// Writes one row of a tile of C. A call would store the sums to memory first.
template <class C>
[[gnu::always_inline]] inline void finish_row(Floats const& first, Floats const& second, Target const& t, C* c) {
  if (t.columns >= tile_columns) {
    finish(first, t, c);
    finish(second, t, c + lanes);
  } else {
    finish_part(first, second, t, c);
  }
}

}  // namespace bellwether::product
