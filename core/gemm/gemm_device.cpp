// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
// gemm() and gemm_with() on devices without a linked BLAS. A backend with a BLAS has its own source instead.
#include "core/gemm/gemm.hpp"
#include "core/gemm/gemm_definition.hpp"
#include "core/gemm/team_epilogue.hpp"
#include "core/gemm/team_product.hpp"

namespace bellwether {

template <class A, class B, class C, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, SumOf<C> alpha, A const* a, Index lda,
          B const* b, Index ldb, SumOf<C> beta, C* c, Index ldc) {
  if (m == 0 || n == 0) return;
  GemmRegion const region(op_a, op_b, m, n, k);
  team_gemm(exec, TeamOperands<A, B>{op_a, op_b, m, n, k, a, lda, b, ldb}, alpha, beta, c, ldc);
}

template <class T, class Space>
bool gemm_with(Space const& exec, Epilogue<T> const& epilogue, Op op_a, Op op_b, Index m, Index n, Index k, T const* a,
               Index lda, T const* b, Index ldb, T* c, Index ldc) {
  GemmRegion const region(op_a, op_b, m, n, k);
  team_gemm_with(exec, epilogue, TeamOperands<T, T>{op_a, op_b, m, n, k, a, lda, b, ldb}, c, ldc);
  return true;
}

BELLWETHER_FOR_HIP(BELLWETHER_GEMM)
BELLWETHER_FOR_HIP(BELLWETHER_GEMM_WITH)
BELLWETHER_FOR_HIP(BELLWETHER_NO_GEMM_WORKSPACE)
BELLWETHER_FOR_SYCL(BELLWETHER_GEMM)
BELLWETHER_FOR_SYCL(BELLWETHER_GEMM_WITH)
BELLWETHER_FOR_SYCL(BELLWETHER_NO_GEMM_WORKSPACE)

}  // namespace bellwether
