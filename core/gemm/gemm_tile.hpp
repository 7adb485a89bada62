// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compute_type.hpp"
#include "core/index.hpp"
#include "core/simd/bf16.hpp"

#include <type_traits>

namespace bellwether {

enum class Op { none, transpose };

/// What products of T are summed in, and what scales them.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// C = alpha * op(A) * op(B) + beta * C on the calling host thread, for use inside a kernel on a host space; all
/// row-major, op(A) (m, k), op(B) (k, n), C (m, n). Leading dimensions are elements between rows as stored. With
/// beta = 0, C is not read. Types of A, B and C: all float; all double; or B bf16, A and C float or bf16: then a float
/// of A is rounded to bf16, sums are formed in float, and an element of C is rounded once.
template <class A, class B, class C>
void gemm_tile(Op op_a, Op op_b, Index m, Index n, Index k, SumOf<C> alpha, A const* a, Index lda, B const* b,
               Index ldb, SumOf<C> beta, C* c, Index ldc);

/// C += A^T B on the calling host thread, and on the way sums += the sums of A's columns, whose order depends on k
/// alone. A: (k, m); B: (k, n); C: (m, n); sums: (m). T: float or bf16.
template <class T>
void gemm_tile_with_sums(Index m, Index n, Index k, T const* a, Index lda, T const* b, Index ldb, float* c, Index ldc,
                         float* sums);

/// Whether gemm_tile() calls BLAS for operands of T: then a result depends on how a product is cut. Without, an element
/// of C is the same sum, in the same order, wherever a tile begins.
template <class T>
bool is_by_blas();

/// Whether the CPU that the program was compiled for has instructions for products of bf16; without, they are
/// multiplied as floats.
bool cpu_has_bf16_products();

/// One thread for every BLAS call: gemm() cuts and Kokkos spreads. Call once after Kokkos::initialize.
void use_single_threaded_blas();

/// Largest extent of a problem that one BLAS call takes (its integers are 32-bit); larger ones are refused.
inline constexpr Index blas_extent_limit = Index{1} << 30;

}  // namespace bellwether
