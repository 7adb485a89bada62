// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compute_type.hpp"
#include "core/index.hpp"
#include "core/simd/bf16.hpp"

#include <string>
#include <type_traits>

namespace bellwether {

enum class Op { none, transpose };

/// Type of the sums and scalars in products of T.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Extents of a product: A (m, k) times B (k, n) is (m, n).
struct GemmExtents {
  Index m, n, k;
};

/// Form of a product op(A) op(B). op(A): (m, k); op(B): (k, n).
struct GemmShape {
  Op op_a, op_b;  ///< how A and B are stored
  Index m, n, k;  ///< rows and columns of the product, and terms of each element
};

/// A row-major matrix in memory that a product reads.
template <class T>
struct ConstMatrix {
  T const* at;  ///< element (0, 0)
  Index ld;     ///< elements from one stored row to the next
};
template <class T>
ConstMatrix(T const*, Index) -> ConstMatrix<T>;

/// A row-major matrix in memory that a product writes.
template <class T>
struct Matrix {
  T* at;     ///< element (0, 0)
  Index ld;  ///< elements from one stored row to the next
};
template <class T>
Matrix(T*, Index) -> Matrix<T>;

/// Factors of a product P: C = alpha P + beta C. With beta = 0, C is not read.
template <class Real>
struct Scaling {
  Real alpha = 1;  ///< factor of the product
  Real beta = 0;   ///< factor of the old C
};

/// C = alpha * op(A) * op(B) + beta * C on the calling host thread, for use inside a kernel. C: (m, n). Types of A, B
/// and C: all float; all double; or B bf16 with A and C float or bf16. In the last case, float elements of A are
/// rounded to bf16, sums are formed in float, and each element of C is rounded once.
template <class A, class B, class C>
void gemm_tile(GemmShape const& shape, ConstMatrix<A> const& a, ConstMatrix<B> const& b, Matrix<C> const& c,
               Scaling<SumOf<C>> const& scaling = {});

/// C += A^T B on the calling host thread and, in the same pass, sums += column sums of A, whose order of summation
/// depends only on k. A: (k, m); B: (k, n); C: (m, n); sums: (m), or null. T: float or bf16.
template <class T>
void gemm_tile_with_sums(GemmExtents const& extents, ConstMatrix<T> const& a, ConstMatrix<T> const& b,
                         Matrix<float> const& c, float* sums);

/// Returns true if gemm_tile() calls BLAS for operands of T. The result then depends on the tiling. Otherwise an
/// element of C is the same sum in the same order for any tiling.
template <class T>
bool is_by_blas();

/// What gemm_tile() needs to pack a row of op(A) and a column of op(B), in products that take as long.
struct PackingCosts {
  Index row, column;
};

/// Returns the costs for operands of T, for a T that is not multiplied by BLAS.
template <class T>
PackingCosts packing_costs(Op op_a, Op op_b);

/// Returns true if the build target has CPU instructions for bf16 products. Otherwise they are multiplied as floats.
bool cpu_has_bf16_products();

/// Limits BLAS to one thread: gemm() splits products into tiles for Kokkos threads. Call once after Kokkos::initialize.
void use_single_threaded_blas();

/// Multiplies once by BLAS, which ends the program with SIGILL if OPENBLAS_CORETYPE chooses kernels for another CPU.
/// Returns what is wrong, or an empty string. Call it after reserve_blas_memory().
std::string fault_of_blas();

/// Upper limit of the extents of a BLAS call, whose integers have 32 bits; larger ones are an error.
inline constexpr Index blas_extent_limit = Index{1} << 30;

}  // namespace bellwether
