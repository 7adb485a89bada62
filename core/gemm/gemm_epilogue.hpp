// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_tile.hpp"
#include "core/types.hpp"

namespace bellwether {

/// What is done to the elements of a product P = op(A) op(B) before they are stored. GELU is the one by tanh.
template <class C>
struct Epilogue {
  enum class Kind {
    bias,        ///< C = P + bias
    bias_gelu,   ///< pre = P + bias; C = GELU(pre)
    gelu_slope,  ///< C = P GELU'(at)
  };
  Kind kind;
  C const* bias = nullptr;  ///< (n), added to every row
  C* pre = nullptr;         ///< (m, n), rows without gaps
  C const* at = nullptr;    ///< (m, n), rows without gaps
};

/// C = op(A) op(B) with an epilogue in the same pass; operands as gemm() takes them, all of one type. Sums and what
/// follows are formed in SumOf<C>, and what is stored is rounded once; cuBLASLt may round a sum to C before, too.
/// \returns false, nothing done, where this space has no such product, for these operands or at all: the caller then
/// has gemm() and kernels of its own. Hosts have none: their BLAS takes no epilogue.
template <class T, class Space>
bool gemm_with(Space const& exec, Epilogue<T> const& epilogue, Op op_a, Op op_b, Index m, Index n, Index k, T const* a,
               Index lda, T const* b, Index ldb, T* c, Index ldc);

}  // namespace bellwether

/// The instances of gemm_with() for a space: at the end of the one source that defines it there.
#define BELLWETHER_GEMM_WITH_OF(SPACE, T)                                                                           \
  template bool gemm_with(SPACE const&, Epilogue<T> const&, Op, Op, Index, Index, Index, T const*, Index, T const*, \
                          Index, T*, Index);
#define BELLWETHER_GEMM_WITH(SPACE)      \
  BELLWETHER_GEMM_WITH_OF(SPACE, float)  \
  BELLWETHER_GEMM_WITH_OF(SPACE, double) \
  BELLWETHER_GEMM_WITH_OF(SPACE, bf16)
