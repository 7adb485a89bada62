// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
// gemm() on devices for which no BLAS is linked: each has a file of its own in place of this one where it is.
#include "core/gemm.hpp"
#include "core/gemm_region.hpp"
#include "core/team_product.hpp"

namespace bellwether {

template <class T, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, T const* a, Index lda, T const* b,
          Index ldb, T beta, T* c, Index ldc, ComputeType type) {
  if (m == 0 || n == 0) return;
  GemmRegion const region(m, n, k);
  team_gemm(exec, TeamOperands<T>{op_a, op_b, m, n, k, a, lda, b, ldb, type}, alpha, beta, c, ldc);
}

#define BELLWETHER_GEMM(SPACE)                                                                                      \
  template void gemm(SPACE const&, Op, Op, Index, Index, Index, float, float const*, Index, float const*, Index,    \
                     float, float*, Index, ComputeType);                                                            \
  template void gemm(SPACE const&, Op, Op, Index, Index, Index, double, double const*, Index, double const*, Index, \
                     double, double*, Index, ComputeType);
BELLWETHER_FOR_HIP(BELLWETHER_GEMM)
BELLWETHER_FOR_SYCL(BELLWETHER_GEMM)
#undef BELLWETHER_GEMM

}  // namespace bellwether
