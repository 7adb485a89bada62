// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/device_math.hpp"
#include "core/simd/pack.hpp"
#include "core/unroll.hpp"

#include <cstdint>

/// For functions that threads of a device call, which other compilers have as plain ones.
#if defined(__CUDACC__)
#define BELLWETHER_DEVICE __device__ inline
#else
#define BELLWETHER_DEVICE inline
#endif

/// Products of 32 lanes on matrix units, between tiles in shared memory and registers. The layouts of fragments are
/// those of the PTX ISA, sections "mma.m16n8k16" and "ldmatrix": of a result of 16 x 8 a lane has rows lane / 4 and
/// lane / 4 + 8, columns 2 (lane % 4) and the one after it.
///
/// Warp, a template parameter here and below, is what has such units: CudaWarp, or what stands for it in tests.
///
///     lane()                            this thread's of the 32
///     address_of(shared)                of a pointer in the window of shared memory
///     read(to[4], row)                  four matrices of 8 x 8: lane l names row l % 8 of matrix l / 8
///     read_transposed(to[4], row)       the same, each of them transposed
///     multiply(sum[4], a[4], b0, b1)    sum (16, 8) += a (16, 16) b (16, 8)
///     write(to, word)                   four bytes to an address
///     read_piece(from)                  the Piece at an address
///     fetch(to, from, there)            sixteen bytes of memory to an address, zeros where they are not there
///     await_fetched()                   what this thread has fetched has arrived
///     across(value, apart)              what lane ^ apart has
///     of_lane(value, l)                 what lane l has
namespace bellwether {

/// Sixteen bytes of a row.
using Piece = Pack<bf16, 8>;

/// 64 x 64 elements in shared memory, rows without gaps. The 16-byte pieces of a row are swapped about by its number,
/// so that the same piece of eight rows lies in different banks.
struct Tile {
  static constexpr int extent = 64, piece = 8, pieces = extent / piece;
  static constexpr int bytes = extent * extent * 2;

  std::uint32_t begin;  ///< in the window of shared memory

  /// Of the piece that begins at a column.
  BELLWETHER_DEVICE std::uint32_t at(int row, int column) const {
    return begin + static_cast<std::uint32_t>(row * (2 * extent) + ((column / piece ^ (row & (pieces - 1))) * 16));
  }
};

/// A result of 16 x 64, by 8 columns.
using Result = float[8][4];
/// The left operand of 16 x 64, by 16 columns.
using Left = std::uint32_t[4][4];

/// body(n, e) for the elements of a result, e of columns [8 n, 8 n + 8).
template <class Body>
BELLWETHER_DEVICE void each_element(Body const& body) {
  BELLWETHER_UNROLL
  for (int i = 0; i < 32; ++i) body(i / 4, i % 4);
}

BELLWETHER_DEVICE void clear(Result& result) {
  for (auto& columns : result)
    for (float& value : columns) value = 0;
}

/// Rows [row, row + 16) of a tile as a left operand: columns [k, k + 16), and all.
template <class Warp>
BELLWETHER_DEVICE void read_columns(std::uint32_t (&to)[4], Tile const& from, int row, int k) {
  int const l = Warp::lane();
  Warp::read(to, from.at(row + l % 16, k + l / 16 * 8));
}
template <class Warp>
BELLWETHER_DEVICE void read(Left& to, Tile const& from, int row) {
  BELLWETHER_UNROLL
  for (int k = 0; k < Tile::extent; k += 16) read_columns<Warp>(to[k / 16], from, row, k);
}

/// sum += a times the transpose of b. left_of(k, to): the operand of columns [k, k + 16) of a.
template <class Warp, class LeftOf>
BELLWETHER_DEVICE void multiply_columns_by_transpose(Result& sum, LeftOf const& left_of, Tile const& b) {
  int const l = Warp::lane();
  BELLWETHER_UNROLL
  for (int k = 0; k < Tile::extent; k += 16) {
    std::uint32_t left[4];
    left_of(k, left);
    BELLWETHER_UNROLL
    for (int n = 0; n < Tile::extent; n += 16) {
      std::uint32_t right[4];
      Warp::read(right, b.at(n + l % 8 + l / 16 * 8, k + l / 8 % 2 * 8));
      Warp::multiply(sum[n / 8], left, right[0], right[1]);
      Warp::multiply(sum[n / 8 + 1], left, right[2], right[3]);
    }
  }
}

/// The same, a in registers.
template <class Warp>
BELLWETHER_DEVICE void multiply_by_transpose(Result& sum, Left const& a, Tile const& b) {
  multiply_columns_by_transpose<Warp>(
      sum,
      [&](int k, std::uint32_t(&to)[4]) {
        BELLWETHER_UNROLL
        for (int part = 0; part < 4; ++part) to[part] = a[k / 16][part];
      },
      b);
}

/// The same, a being rows [row, row + 16) of a tile.
template <class Warp>
BELLWETHER_DEVICE void multiply_by_transpose(Result& sum, Tile const& a, int row, Tile const& b) {
  multiply_columns_by_transpose<Warp>(
      sum, [&](int k, std::uint32_t(&to)[4]) { read_columns<Warp>(to, a, row, k); }, b);
}

/// sum += a b, a in registers.
template <class Warp>
BELLWETHER_DEVICE void multiply(Result& sum, Left const& a, Tile const& b) {
  int const l = Warp::lane();
  BELLWETHER_UNROLL
  for (int k = 0; k < Tile::extent; k += 16) {
    BELLWETHER_UNROLL
    for (int n = 0; n < Tile::extent; n += 16) {
      std::uint32_t right[4];
      Warp::read_transposed(right, b.at(k + l % 16, n + l / 16 * 8));
      Warp::multiply(sum[n / 8], a[k / 16], right[0], right[1]);
      Warp::multiply(sum[n / 8 + 1], a[k / 16], right[2], right[3]);
    }
  }
}

/// A result as the left operand of a product.
BELLWETHER_DEVICE void as_left(Left& to, Result const& from) {
  BELLWETHER_UNROLL
  for (int k = 0; k < 4; ++k) {
    BELLWETHER_UNROLL
    for (int part = 0; part < 4; ++part) {
      float const* const pair = from[2 * k + part / 2] + part % 2 * 2;
      to[k][part] = device_math::bf16_pair(pair[0], pair[1]);
    }
  }
}

/// A left operand as rows [row, row + 16) of a tile.
template <class Warp>
BELLWETHER_DEVICE void write(Tile const& to, int row, Left const& from) {
  int const l = Warp::lane();
  BELLWETHER_UNROLL
  for (int k = 0; k < 4; ++k) {
    BELLWETHER_UNROLL
    for (int part = 0; part < 4; ++part)
      Warp::write(to.at(row + l / 4 + part % 2 * 8, 16 * k + part / 2 * 8) + static_cast<std::uint32_t>(l % 4 * 4),
                  from[k][part]);
  }
}

/// body(row, column) for the pieces of a tile that are a thread's, of so many.
template <int threads, class Body>
BELLWETHER_DEVICE void each_piece(int thread, Body const& body) {
  constexpr int rows = threads / Tile::pieces;  // of one turn
  static_assert(rows * Tile::pieces == threads && Tile::extent % rows == 0);
  int const row = thread / Tile::pieces, column = thread % Tile::pieces * Tile::piece;
  BELLWETHER_UNROLL
  for (int turn = 0; turn < Tile::extent / rows; ++turn) body(row + turn * rows, column);
}

/// Rows of 64 elements of a matrix to a tile, by all threads; rows from `rows` on become zeros. from: 16-byte aligned,
/// as every row. This thread's have arrived after Warp::await_fetched(), others' after a barrier, too.
template <class Warp, int threads>
BELLWETHER_DEVICE void copy_async(Tile const& to, bf16 const* from, std::int64_t stride, int rows, int thread) {
  each_piece<threads>(thread, [&](int row, int column) {
    bool const there = row < rows;
    Warp::fetch(to.at(row, column), from + (there ? row * stride + column : 0), there);
  });
}

/// The first `rows` rows of a tile to a matrix, by all threads.
template <class Warp, int threads>
BELLWETHER_DEVICE void copy(Tile const& from, bf16* to, std::int64_t stride, int rows, int thread) {
  each_piece<threads>(thread, [&](int row, int column) {
    Piece const piece = Warp::read_piece(from.at(row, column));
    if (row < rows) *reinterpret_cast<Piece*>(to + row * stride + column) = piece;
  });
}

/// Over the four lanes that share a row of a result.
template <class Warp>
BELLWETHER_DEVICE float row_sum(float value) {
  value += Warp::across(value, 1);
  return value + Warp::across(value, 2);
}
template <class Warp>
BELLWETHER_DEVICE float row_largest(float value) {
  value = Kokkos::fmax(value, Warp::across(value, 1));
  return Kokkos::fmax(value, Warp::across(value, 2));
}

/// to: of a lane's two rows from `row` on, the sum of the products of their elements in a and b.
template <class Warp>
BELLWETHER_DEVICE void row_products(Tile const& a, Tile const& b, int row, float (&to)[2]) {
  int const l = Warp::lane();
  float sum = 0;
  BELLWETHER_UNROLL
  for (int i = 0; i < 4; ++i) {
    int const column = (l % 2 * 4 + i) * Tile::piece;
    Piece const left = Warp::read_piece(a.at(row + l / 2, column)), right = Warp::read_piece(b.at(row + l / 2, column));
    BELLWETHER_UNROLL
    for (int j = 0; j < 4; ++j)
      sum += device_math::low_of(left.words[j]) * device_math::low_of(right.words[j]) +
             device_math::high_of(left.words[j]) * device_math::high_of(right.words[j]);
  }
  sum += Warp::across(sum, 1);
  BELLWETHER_UNROLL
  for (int half = 0; half < 2; ++half) to[half] = Warp::of_lane(sum, 2 * (l / 4 + 8 * half));
}

}  // namespace bellwether
