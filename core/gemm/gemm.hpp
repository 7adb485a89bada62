// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_tile.hpp"
#include "core/types.hpp"

namespace bellwether {

/// C = alpha * op(A) * op(B) + beta * C. C: (m, n). The result does not depend on the number of threads. Types of A, B
/// and C: all float; all double; or A and B bf16 with C float or bf16. For bf16, sums are formed in float and each
/// element of C is rounded once. If a Kokkos tool is loaded, each product is a region
/// "bellwether::core::gemm m=<m> n=<n> k=<k> <op>" with <op> nn, nt, tn or tt: the transposed operands.
template <class A, class B, class C, class Space>
void gemm(Space const& exec, GemmShape const& shape, ConstMatrix<A> const& a, ConstMatrix<B> const& b,
          Matrix<C> const& c, Scaling<SumOf<C>> const& scaling = {});

/// C += A^T B and, in the same pass over A, sums += column sums of A, whose order of summation depends only on k.
/// A: (k, m); B: (k, n); C: (m, n); sums: (m). Host spaces only.
/// \returns false, and does nothing, if products of T use a BLAS, which has no column sums, or if C has no columns.
template <class T, class Space>
bool gemm_with_column_sums(Space const& exec, GemmExtents const& extents, ConstMatrix<T> const& a,
                           ConstMatrix<T> const& b, Matrix<SumOf<T>> const& c, SumOf<T>* sums);

/// Returns the bytes of memory of the space that products allocate at first use and keep.
template <class Space>
std::int64_t gemm_workspace_bytes(Space const&);

}  // namespace bellwether
