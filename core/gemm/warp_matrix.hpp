// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compiler.hpp"
#include "core/simd/device_math.hpp"
#include "core/simd/pack.hpp"

#include <cstdint>

/// Products of 32 lanes on matrix units, with tiles in shared memory and registers. Fragments have the layouts of the
/// PTX ISA, sections "mma.m16n8k16" and "ldmatrix". Of a 16 x 8 result, a lane holds rows lane / 4 and lane / 4 + 8,
/// columns 2 (lane % 4) and the next.
///
/// Template parameter Warp provides the matrix unit: CudaWarp, or a replacement in tests. Its functions:
///
///     lane()                            returns this thread's lane, 0 to 31
///     address_of(shared)                returns the shared memory address of a pointer
///     read(to[4], row)                  loads four 8 x 8 matrices; lane l names row l % 8 of matrix l / 8
///     read_transposed(to[4], row)       the same, and transposes each
///     multiply(sum[4], a[4], b0, b1)    sum (16, 8) += a (16, 16) b (16, 8)
///     write(to, word)                   writes four bytes
///     read_piece(from)                  returns the Piece at an address
///     fetch(to, from, there)            copies sixteen bytes from memory asynchronously, zeros if not `there`
///     await_fetched()                   waits for this thread's fetches
///     across(value, apart)              returns the value of lane ^ apart
///     of_lane(value, l)                 returns the value of lane l
namespace bellwether {

/// Sixteen bytes of a row.
using Piece = Pack<bf16, 8>;

/// 64 x 64 elements in shared memory without gaps. The 16-byte pieces of a row are permuted by its number (swizzled),
/// so that the same piece of eight rows lies in different banks.
struct Tile {
  static constexpr int extent = 64, piece = 8, pieces = extent / piece;
  static constexpr int bytes = extent * extent * 2;

  std::uint32_t begin;  ///< shared memory address

  /// Returns the address of the piece that begins at a column.
  BELLWETHER_DEVICE std::uint32_t at(int row, int column) const {
    return begin + static_cast<std::uint32_t>(row * (2 * extent) + ((column / piece ^ (row & (pieces - 1))) * 16));
  }
};

/// A 16 x 64 result, in groups of 8 columns.
using Result = float[8][4];
/// A 16 x 64 left operand, in groups of 16 columns.
using Left = std::uint32_t[4][4];

/// Calls body(n, e) for each element of a result: element e of columns [8 n, 8 n + 8).
template <class Body>
BELLWETHER_DEVICE void each_element(Body const& body) {
  BELLWETHER_UNROLL
  for (int i = 0; i < 32; ++i) body(i / 4, i % 4);
}

BELLWETHER_DEVICE void clear(Result& result) {
  for (auto& columns : result)
    for (float& value : columns) value = 0;
}

/// Load rows [row, row + 16) of a tile as a left operand: columns [k, k + 16), or all columns.
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

/// sum += a b^T. left_of(k, to): loads columns [k, k + 16) of a.
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

/// sum += a b^T, with a in registers.
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

/// sum += a b^T, with a in rows [row, row + 16) of a tile.
template <class Warp>
BELLWETHER_DEVICE void multiply_by_transpose(Result& sum, Tile const& a, int row, Tile const& b) {
  multiply_columns_by_transpose<Warp>(
      sum, [&](int k, std::uint32_t(&to)[4]) { read_columns<Warp>(to, a, row, k); }, b);
}

/// sum += a b, with a in registers.
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

/// Converts a result to a left operand.
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

/// Writes a left operand to rows [row, row + 16) of a tile.
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

/// Calls body(row, column) for the pieces of a tile that this thread processes, out of `threads` threads.
template <int threads, class Body>
BELLWETHER_DEVICE void each_piece(int thread, Body const& body) {
  constexpr int rows = threads / Tile::pieces;  // rows per turn
  static_assert(rows * Tile::pieces == threads && Tile::extent % rows == 0);
  int const row = thread / Tile::pieces, column = thread % Tile::pieces * Tile::piece;
  BELLWETHER_UNROLL
  for (int turn = 0; turn < Tile::extent / rows; ++turn) body(row + turn * rows, column);
}

/// Copies rows of 64 matrix elements to a tile with all threads; rows from `rows` on become zero. from and all rows:
/// 16-byte aligned. This thread's pieces are complete after Warp::await_fetched(), all pieces after a further barrier.
template <class Warp, int threads>
BELLWETHER_DEVICE void copy_async(Tile const& to, bf16 const* from, std::int64_t stride, int rows, int thread) {
  each_piece<threads>(thread, [&](int row, int column) {
    bool const there = row < rows;
    Warp::fetch(to.at(row, column), from + (there ? row * stride + column : 0), there);
  });
}

/// Copies the first `rows` rows of a tile to a matrix with all threads.
template <class Warp, int threads>
BELLWETHER_DEVICE void copy(Tile const& from, bf16* to, std::int64_t stride, int rows, int thread) {
  each_piece<threads>(thread, [&](int row, int column) {
    Piece const piece = Warp::read_piece(from.at(row, column));
    if (row < rows) *reinterpret_cast<Piece*>(to + row * stride + column) = piece;
  });
}

/// Reduce over the four lanes that share a row of a result.
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

/// to: for this lane's two rows, counted from `row`, the dot product of the rows of a and b.
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
