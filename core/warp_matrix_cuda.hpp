// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device_math.hpp"

#include <cstdint>

/// Products of a warp on the matrix units of NVIDIA GPUs from compute capability 8.0 on, between tiles in shared
/// memory and registers. For sources of CUDA alone. The layouts of fragments are those of the PTX ISA, sections
/// "mma.m16n8k16" and "ldmatrix": of a result of 16 x 8 a lane has rows lane / 4 and lane / 4 + 8, columns 2 (lane % 4)
/// and the one after it.
namespace bellwether::cuda {

/// 64 x 64 elements in shared memory, rows without gaps. The 16-byte pieces of a row are swapped about by its number,
/// so that the same piece of eight rows lies in different banks.
struct Tile {
  static constexpr int extent = 64, piece = 8, pieces = extent / piece;
  static constexpr int bytes = extent * extent * 2;

  std::uint32_t begin;  ///< in the window of shared memory

  /// Of the piece that begins at a column.
  __device__ std::uint32_t at(int row, int column) const {
    return begin + static_cast<std::uint32_t>(row * (2 * extent) + ((column / piece ^ (row & (pieces - 1))) * 16));
  }
};

/// A result of 16 x 64, by 8 columns.
using Result = float[8][4];
/// The left operand of 16 x 64, by 16 columns.
using Left = std::uint32_t[4][4];

__device__ inline int lane() { return static_cast<int>(threadIdx.x + blockDim.x * threadIdx.y) % 32; }

/// Four matrices of 8 x 8: lane l names row l % 8 of matrix l / 8.
__device__ inline void read(std::uint32_t (&to)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}
/// The same, each matrix transposed.
__device__ inline void read_transposed(std::uint32_t (&to)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

/// sum (16, 8) += a (16, 16) b (16, 8).
__device__ inline void multiply(float (&sum)[4], std::uint32_t const (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline void clear(Result& result) {
  for (auto& columns : result)
    for (float& value : columns) value = 0;
}

/// sum += rows [row, row + 16) of a times the transpose of b.
__device__ inline void multiply_by_transpose(Result& sum, Tile const& a, int row, Tile const& b) {
  int const l = lane();
#pragma unroll
  for (int k = 0; k < Tile::extent; k += 16) {
    std::uint32_t left[4];
    read(left, a.at(row + l % 16, k + l / 16 * 8));
#pragma unroll
    for (int n = 0; n < Tile::extent; n += 16) {
      std::uint32_t right[4];
      read(right, b.at(n + l % 8 + l / 16 * 8, k + l / 8 % 2 * 8));
      multiply(sum[n / 8], left, right[0], right[1]);
      multiply(sum[n / 8 + 1], left, right[2], right[3]);
    }
  }
}

/// sum += a b, a in registers.
__device__ inline void multiply(Result& sum, Left const& a, Tile const& b) {
  int const l = lane();
#pragma unroll
  for (int k = 0; k < Tile::extent; k += 16)
#pragma unroll
    for (int n = 0; n < Tile::extent; n += 16) {
      std::uint32_t right[4];
      read_transposed(right, b.at(k + l % 16, n + l / 16 * 8));
      multiply(sum[n / 8], a[k / 16], right[0], right[1]);
      multiply(sum[n / 8 + 1], a[k / 16], right[2], right[3]);
    }
}

/// sum += the transpose of columns [column, column + 16) of a times b.
__device__ inline void multiply_transposed(Result& sum, Tile const& a, int column, Tile const& b) {
  int const l = lane();
#pragma unroll
  for (int k = 0; k < Tile::extent; k += 16) {
    std::uint32_t left[4];
    read_transposed(left, a.at(k + l % 8 + l / 16 * 8, column + l / 8 % 2 * 8));
#pragma unroll
    for (int n = 0; n < Tile::extent; n += 16) {
      std::uint32_t right[4];
      read_transposed(right, b.at(k + l % 16, n + l / 16 * 8));
      multiply(sum[n / 8], left, right[0], right[1]);
      multiply(sum[n / 8 + 1], left, right[2], right[3]);
    }
  }
}

/// A result as the left operand of a product.
__device__ inline void as_left(Left& to, Result const& from) {
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      float const* const pair = from[2 * k + part / 2] + part % 2 * 2;
      to[k][part] = device_math::bf16_pair(pair[0], pair[1]);
    }
}

/// A left operand as rows [row, row + 16) of a tile.
__device__ inline void write(Tile const& to, int row, Left const& from) {
  int const l = lane();
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int part = 0; part < 4; ++part)
      asm volatile(
          "st.shared.b32 [%0], %1;" ::"r"(to.at(row + l / 4 + part % 2 * 8, 16 * k + part / 2 * 8) + l % 4 * 4),
          "r"(from[k][part])
          : "memory");
}

/// body(row, column) for the pieces of a tile that are a thread's, of so many.
template <int threads, class Body>
__device__ inline void each_piece(int thread, Body const& body) {
  constexpr int rows = threads / Tile::pieces;  // of one turn
  static_assert(rows * Tile::pieces == threads && Tile::extent % rows == 0);
  int const row = thread / Tile::pieces, column = thread % Tile::pieces * Tile::piece;
#pragma unroll
  for (int turn = 0; turn < Tile::extent / rows; ++turn) body(row + turn * rows, column);
}

/// Rows of 64 elements of a matrix to a tile, by all threads; rows from `rows` on become zeros. from: 16-byte aligned,
/// as every row. Arrives with await_copies().
template <int threads>
__device__ inline void copy_async(Tile const& to, bf16 const* from, std::int64_t stride, int rows, int thread) {
  each_piece<threads>(thread, [&](int row, int column) {
    bool const there = row < rows;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to.at(row, column)),
                 "l"(from + (there ? row * stride + column : 0)), "r"(there ? 16 : 0)
                 : "memory");
  });
}
/// This thread's copies have arrived; others' have after a barrier.
__device__ inline void await_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Sixteen bytes of a row.
__device__ inline uint4 piece_of(Tile const& tile, int row, int column) {
  uint4 value;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(tile.at(row, column))
               : "memory");
  return value;
}

/// The first `rows` rows of a tile to a matrix, by all threads.
template <int threads>
__device__ inline void copy(Tile const& from, bf16* to, std::int64_t stride, int rows, int thread) {
  each_piece<threads>(thread, [&](int row, int column) {
    uint4 const piece = piece_of(from, row, column);
    if (row < rows) *reinterpret_cast<uint4*>(to + row * stride + column) = piece;
  });
}

/// Over the four lanes that share a row of a result.
__device__ inline float row_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}
__device__ inline float row_largest(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

/// to: of a lane's two rows from `row` on, the sum of the products of their elements in a and b.
__device__ inline void row_products(Tile const& a, Tile const& b, int row, float (&to)[2]) {
  int const l = lane();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int const column = (l % 2 * 4 + i) * Tile::piece;
    uint4 const x = piece_of(a, row + l / 2, column), y = piece_of(b, row + l / 2, column);
    std::uint32_t const left[4] = {x.x, x.y, x.z, x.w}, right[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
    for (int j = 0; j < 4; ++j)
      sum += device_math::low_of(left[j]) * device_math::low_of(right[j]) +
             device_math::high_of(left[j]) * device_math::high_of(right[j]);
  }
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
#pragma unroll
  for (int half = 0; half < 2; ++half) to[half] = __shfl_sync(0xffffffffu, sum, 2 * (l / 4 + 8 * half));
}

}  // namespace bellwether::cuda
