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

/// What the sources that define gemm(), one a kind of space, have in common.
namespace bellwether {

/// \throws InternalError where one BLAS call does not take a problem of these extents.
inline void require_blas_extents(std::initializer_list<Index> extents) {
  require(std::max(extents) < blas_extent_limit, "matrix extent beyond BLAS's 32-bit integers");
}

/// A product's name to Kokkos' tools while it is formed; without a tool, no text is made.
class GemmRegion {
 public:
  GemmRegion(Op op_a, Op op_b, Index m, Index n, Index k) {
    if (Kokkos::Tools::profileLibraryLoaded())
      region_.emplace("bellwether::core::gemm m=" + std::to_string(m) + " n=" + std::to_string(n) +
                      " k=" + std::to_string(k) + (op_a == Op::none ? " n" : " t") + (op_b == Op::none ? "n" : "t"));
  }

 private:
  std::optional<Kokkos::Profiling::ScopedRegion> region_;
};

}  // namespace bellwether

/// The instances of gemm() for a space: at the end of the one source that defines it there.
#define BELLWETHER_GEMM_OF(SPACE, T, C)                                                                               \
  template void gemm(SPACE const&, Op, Op, Index, Index, Index, SumOf<C>, T const*, Index, T const*, Index, SumOf<C>, \
                     C*, Index);
#define BELLWETHER_GEMM(SPACE)              \
  BELLWETHER_GEMM_OF(SPACE, float, float)   \
  BELLWETHER_GEMM_OF(SPACE, double, double) \
  BELLWETHER_GEMM_OF(SPACE, bf16, float)    \
  BELLWETHER_GEMM_OF(SPACE, bf16, bf16)

/// Where products keep no memory.
#define BELLWETHER_NO_GEMM_WORKSPACE(SPACE)         \
  template <>                                       \
  std::int64_t gemm_workspace_bytes(SPACE const&) { \
    return 0;                                       \
  }
