// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compute_type.hpp"
#include "core/types.hpp"

namespace bellwether {

enum class Op { none, transpose };

/// C = alpha * op(A) * op(B) + beta * C, all row-major; op(A) is (m, k), op(B) is (k, n), C is (m, n). Leading
/// dimensions are elements between rows as stored. The result does not depend on the number of threads. With beta = 0,
/// C is not read. Where a Kokkos tool listens, each product is a region
/// "bellwether::core::gemm m=<m> n=<n> k=<k>". T: float or double; doubles are multiplied as such, whatever `type`.
template <class T, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, T const* a, Index lda, T const* b,
          Index ldb, T beta, T* c, Index ldc, ComputeType type = ComputeType::fp32);

/// The same product on the calling host thread, for use inside a kernel on a host space.
void gemm_tile(Op op_a, Op op_b, Index m, Index n, Index k, float alpha, float const* a, Index lda, float const* b,
               Index ldb, float beta, float* c, Index ldc, ComputeType type = ComputeType::fp32);
void gemm_tile(Op op_a, Op op_b, Index m, Index n, Index k, double alpha, double const* a, Index lda, double const* b,
               Index ldb, double beta, double* c, Index ldc, ComputeType type = ComputeType::fp32);

/// One thread for every BLAS call: gemm() cuts and Kokkos spreads. Call once after Kokkos::initialize.
void use_single_threaded_blas();

/// Largest extent of a problem that one BLAS call takes (its integers are 32-bit); larger ones are refused.
inline constexpr Index blas_extent_limit = Index{1} << 30;

}  // namespace bellwether
