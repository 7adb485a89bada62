// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm_tile.hpp"
#include "core/types.hpp"

namespace bellwether {

/// C = alpha * op(A) * op(B) + beta * C, all row-major; op(A) is (m, k), op(B) is (k, n), C is (m, n). Leading
/// dimensions are elements between rows as stored. The result does not depend on the number of threads. With beta = 0,
/// C is not read. Where a Kokkos tool listens, each product is a region
/// "bellwether::core::gemm m=<m> n=<n> k=<k>". T: float or double; doubles are multiplied as such, whatever `type`.
template <class T, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, T const* a, Index lda, T const* b,
          Index ldb, T beta, T* c, Index ldc, ComputeType type = ComputeType::fp32);

}  // namespace bellwether
