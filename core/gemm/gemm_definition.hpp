// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/gemm.hpp"
#include "core/system/error.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

/// Shared by the sources that define gemm(), one per kind of space.
namespace bellwether {

/// Checks the extents of a BLAS call. \throws InternalError if they exceed BLAS's integers.
inline void require_blas_extents(std::initializer_list<Index> extents) {
  require(std::max(extents) < blas_extent_limit, "matrix extent too large for BLAS's 32-bit integers");
}

/// Marks a product as a region for Kokkos tools; without a tool it builds no text.
class GemmRegion {
 public:
  explicit GemmRegion(GemmShape const& p) {
    if (Kokkos::Tools::profileLibraryLoaded())
      region_.emplace("bellwether::core::gemm m=" + std::to_string(p.m) + " n=" + std::to_string(p.n) + " k=" +
                      std::to_string(p.k) + (p.op_a == Op::none ? " n" : " t") + (p.op_b == Op::none ? "n" : "t"));
  }

 private:
  std::optional<Kokkos::Profiling::ScopedRegion> region_;
};

}  // namespace bellwether

/// Instantiates gemm() for a space; place it at the end of the source that defines it.
#define BELLWETHER_GEMM_OF(SPACE, T, C)                                                                              \
  template void gemm(SPACE const&, GemmShape const&, ConstMatrix<T> const&, ConstMatrix<T> const&, Matrix<C> const&, \
                     Scaling<SumOf<C>> const&);
#define BELLWETHER_GEMM(SPACE)              \
  BELLWETHER_GEMM_OF(SPACE, float, float)   \
  BELLWETHER_GEMM_OF(SPACE, double, double) \
  BELLWETHER_GEMM_OF(SPACE, bf16, float)    \
  BELLWETHER_GEMM_OF(SPACE, bf16, bf16)

/// Defines gemm_workspace_bytes() for spaces without a workspace.
#define BELLWETHER_NO_GEMM_WORKSPACE(SPACE)         \
  template <>                                       \
  std::int64_t gemm_workspace_bytes(SPACE const&) { \
    return 0;                                       \
  }
