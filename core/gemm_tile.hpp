// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compute_type.hpp"
#include "core/index.hpp"

namespace bellwether {

enum class Op { none, transpose };

/// C = alpha * op(A) * op(B) + beta * C on the calling host thread, for use inside a kernel on a host space; all
/// row-major, op(A) (m, k), op(B) (k, n), C (m, n). Leading dimensions are elements between rows as stored. With
/// beta = 0, C is not read. Doubles are multiplied as such, whatever `type`.
void gemm_tile(Op op_a, Op op_b, Index m, Index n, Index k, float alpha, float const* a, Index lda, float const* b,
               Index ldb, float beta, float* c, Index ldc, ComputeType type = ComputeType::fp32);
void gemm_tile(Op op_a, Op op_b, Index m, Index n, Index k, double alpha, double const* a, Index lda, double const* b,
               Index ldb, double beta, double* c, Index ldc, ComputeType type = ComputeType::fp32);

/// One thread for every BLAS call: gemm() cuts and Kokkos spreads. Call once after Kokkos::initialize.
void use_single_threaded_blas();

/// Largest extent of a problem that one BLAS call takes (its integers are 32-bit); larger ones are refused.
inline constexpr Index blas_extent_limit = Index{1} << 30;

}  // namespace bellwether
