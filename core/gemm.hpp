// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

namespace bellwether {

enum class Op { none, transpose };

/// C = alpha * op(A) * op(B) + beta * C, all row-major; op(A) is (m, k), op(B) is (k, n), C is (m, n). Leading
/// dimensions are elements between rows as stored. Cut into tiles by the problem alone, each a single-threaded BLAS
/// call, so that the result does not depend on the number of threads. T: float or double.
template <class T, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, T const* a, Index lda, T const* b,
          Index ldb, T beta, T* c, Index ldc);

/// Floating-point operations asked of gemm() by this process so far: 2 m n k a call; and rows m a call, for tests.
struct GemmCount {
  std::int64_t calls = 0;
  double flops = 0;
};
GemmCount gemm_count();

/// One thread for every BLAS call: gemm() cuts and Kokkos spreads. Call once after Kokkos::initialize.
void use_single_threaded_blas();

}  // namespace bellwether
