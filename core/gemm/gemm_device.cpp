// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
// gemm() and gemm_with() on devices without a linked BLAS. A backend with a BLAS has its own source instead.
#include "core/gemm/gemm.hpp"
#include "core/gemm/gemm_definition.hpp"
#include "core/gemm/team_epilogue.hpp"
#include "core/gemm/team_product.hpp"

namespace bellwether {

template <class A, class B, class C, class Space>
void gemm(Space const& exec, GemmShape const& shape, ConstMatrix<A> const& a, ConstMatrix<B> const& b,
          Matrix<C> const& c, Scaling<SumOf<C>> const& scaling) {
  if (shape.m == 0 || shape.n == 0) return;
  GemmRegion const region(shape);
  team_gemm(exec, team_operands(shape, a, b), scaling.alpha, scaling.beta, c.at, c.ld);
}

template <class T, class Space>
bool gemm_with(Space const& exec, Epilogue<T> const& epilogue, GemmShape const& shape, ConstMatrix<T> const& a,
               ConstMatrix<T> const& b, Matrix<T> const& c) {
  GemmRegion const region(shape);
  team_gemm_with(exec, epilogue, team_operands(shape, a, b), c.at, c.ld);
  return true;
}

BELLWETHER_FOR_HIP(BELLWETHER_GEMM)
BELLWETHER_FOR_HIP(BELLWETHER_GEMM_WITH)
BELLWETHER_FOR_HIP(BELLWETHER_NO_GEMM_WORKSPACE)
BELLWETHER_FOR_SYCL(BELLWETHER_GEMM)
BELLWETHER_FOR_SYCL(BELLWETHER_GEMM_WITH)
BELLWETHER_FOR_SYCL(BELLWETHER_NO_GEMM_WORKSPACE)

}  // namespace bellwether
