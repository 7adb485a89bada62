// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/warp_matrix.hpp"

namespace bellwether {

/// The Warp of warp_matrix.hpp on NVIDIA GPUs of compute capability 8.0 or higher, with PTX instructions.
/// For CUDA sources only.
struct CudaWarp {
  __device__ static int lane() { return static_cast<int>(threadIdx.x + blockDim.x * threadIdx.y) % 32; }

  __device__ static std::uint32_t address_of(void const* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  }
  __device__ static void read(std::uint32_t (&to)[4], std::uint32_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  }
  __device__ static void read_transposed(std::uint32_t (&to)[4], std::uint32_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  }
  __device__ static void multiply(float (&sum)[4], std::uint32_t const (&a)[4], std::uint32_t b0, std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  __device__ static void write(std::uint32_t to, std::uint32_t word) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
  }
  __device__ static Piece read_piece(std::uint32_t from) {
    Piece piece;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(piece.words[0]), "=r"(piece.words[1]), "=r"(piece.words[2]), "=r"(piece.words[3])
                 : "r"(from)
                 : "memory");
    return piece;
  }
  __device__ static void fetch(std::uint32_t to, bf16 const* from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
  }
  __device__ static void await_fetched() { asm volatile("cp.async.wait_all;" ::: "memory"); }

  __device__ static float across(float value, int apart) { return __shfl_xor_sync(0xffffffffu, value, apart); }
  __device__ static float of_lane(float value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }
};

}  // namespace bellwether
