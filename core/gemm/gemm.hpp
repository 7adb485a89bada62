// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_tile.hpp"
#include "core/types.hpp"

namespace bellwether {

/// C = alpha * op(A) * op(B) + beta * C, all row-major; op(A) is (m, k), op(B) is (k, n), C is (m, n). Leading
/// dimensions are elements between rows as stored. The result does not depend on the number of threads. With beta = 0,
/// C is not read. Where a Kokkos tool listens, each product is a region
/// "bellwether::core::gemm m=<m> n=<n> k=<k> <op>", where <op> is nn, nt, tn or tt: which operands are transposed. A, B
/// and C are all float or all double; or A and B are bf16 and C is float or bf16: sums are formed in float, and an
/// element of C is rounded once.
template <class A, class B, class C, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, SumOf<C> alpha, A const* a, Index lda,
          B const* b, Index ldb, SumOf<C> beta, C* c, Index ldc);

/// C += A^T B and, in the same pass over A, sums += the sums of A's columns, whose order depends on k alone. A: (k, m);
/// B: (k, n); C: (m, n); sums: (m). Of host spaces alone.
/// \returns false, nothing done, where products of T are a BLAS's, which forms no such sums, or C has no columns.
template <class T, class Space>
bool gemm_with_column_sums(Space const& exec, Index m, Index n, Index k, T const* a, Index lda, T const* b, Index ldb,
                           SumOf<T>* c, Index ldc, SumOf<T>* sums);

/// Memory of the space that products keep from the first one on.
template <class Space>
std::int64_t gemm_workspace_bytes(Space const&);

}  // namespace bellwether
