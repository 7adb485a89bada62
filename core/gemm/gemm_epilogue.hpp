// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_tile.hpp"
#include "core/types.hpp"

namespace bellwether {

/// Operation on the elements of a product P = op(A) op(B) before they are stored. GELU is the tanh approximation.
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

/// C = op(A) op(B) with an epilogue in the same pass. Operands as in gemm(), all of type T. Sums and the epilogue are
/// computed in SumOf<C>, and each result is rounded once. Only cuBLASLt may also round the sum to C first.
/// \returns false, and does nothing, if this space does not support the product. The caller then uses gemm() and
/// separate kernels. Hosts do not support it, because their BLAS has no epilogues.
template <class T, class Space>
bool gemm_with(Space const& exec, Epilogue<T> const& epilogue, GemmShape const& shape, ConstMatrix<T> const& a,
               ConstMatrix<T> const& b, Matrix<T> const& c);

}  // namespace bellwether

/// Instantiates gemm_with() for a space; place it at the end of the source that defines it.
#define BELLWETHER_GEMM_WITH_OF(SPACE, T)                                                            \
  template bool gemm_with(SPACE const&, Epilogue<T> const&, GemmShape const&, ConstMatrix<T> const&, \
                          ConstMatrix<T> const&, Matrix<T> const&);
#define BELLWETHER_GEMM_WITH(SPACE)      \
  BELLWETHER_GEMM_WITH_OF(SPACE, float)  \
  BELLWETHER_GEMM_WITH_OF(SPACE, double) \
  BELLWETHER_GEMM_WITH_OF(SPACE, bf16)
