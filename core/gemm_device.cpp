// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
// gemm() on devices for which no BLAS is linked: each has a file of its own in place of this one where it is.
#include "core/gemm.hpp"
#include "core/gemm_definition.hpp"
#include "core/team_product.hpp"

namespace bellwether {

template <class T, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, T const* a, Index lda, T const* b,
          Index ldb, T beta, T* c, Index ldc, ComputeType type) {
  if (m == 0 || n == 0) return;
  GemmRegion const region(m, n, k);
  team_gemm(exec, TeamOperands<T>{op_a, op_b, m, n, k, a, lda, b, ldb, type}, alpha, beta, c, ldc);
}

BELLWETHER_FOR_HIP(BELLWETHER_GEMM)
BELLWETHER_FOR_SYCL(BELLWETHER_GEMM)

}  // namespace bellwether
