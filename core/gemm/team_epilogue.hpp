// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm_epilogue.hpp"
#include "core/gemm/team_product.hpp"
#include "core/simd/gelu.hpp"

namespace bellwether {

/// Applies an epilogue to a sum and stores the result.
template <class C>
struct EpilogueStore {
  using Real = SumOf<C>;
  using Kind = typename Epilogue<C>::Kind;

  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j, Real sum) const {
    C& to = c[i * ldc + j];
    if (epilogue.kind == Kind::gelu_slope) {
      to = C(sum * GeluTanh::slope(Real(epilogue.at[i * n + j])));
      return;
    }
    Real const biased = sum + Real(epilogue.bias[j]);
    if (epilogue.kind == Kind::bias) {
      to = C(biased);
      return;
    }
    epilogue.pre[i * n + j] = C(biased);
    to = C(GeluTanh::value(biased));
  }

  Epilogue<C> epilogue;
  Index n;
  C* c;
  Index ldc;
};

/// gemm_with() by teams.
template <class T, class Space>
void team_gemm_with(Space const& exec, Epilogue<T> const& epilogue, TeamOperands<T, T> const& p, T* c, Index ldc) {
  if (p.m > 0 && p.n > 0) team_gemm(exec, p, EpilogueStore<T>{epilogue, p.n, c, ldc});
}

}  // namespace bellwether
