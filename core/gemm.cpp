// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm.hpp"

#include "core/error.hpp"
#include "core/gemm_definition.hpp"
#include "core/gemm_epilogue.hpp"
#include "core/team_epilogue.hpp"

#include <algorithm>
#include <type_traits>

namespace bellwether {
namespace {

/// Rows and columns of a tile, a few tiles a thread. Packing an operand costs little where the other extent is large.
struct Tiling {
  Index rows, columns;
  Tiling(Index m, Index n, Index tiles) : rows(m), columns(n) {
    constexpr Index smallest = 64, whole = 32;
    auto const halved = [](Index extent) { return (extent / 2 + whole - 1) / whole * whole; };
    while (((m + rows - 1) / rows) * ((n + columns - 1) / columns) < tiles) {
      bool const by_rows = rows >= columns;
      Index& extent = by_rows ? rows : columns;
      if (extent < 2 * smallest) break;
      extent = halved(extent);
    }
    rows = std::max<Index>(rows, 1);
    columns = std::max<Index>(columns, 1);
  }
};

/// Sixteen tiles of a product by BLAS, a function of the problem alone: another cut, another rounding. Products in bf16
/// round alike however they are cut.
template <class B, class Space>
Index tiles_for(Space const& exec) {
  if (!std::is_same_v<B, bf16>) return 16;
  return exec.concurrency() == 1 ? 1 : 4 * exec.concurrency();
}

}  // namespace

template <class A, class B, class C, class Space>
void gemm(Space const& exec, Op op_a, Op op_b, Index m, Index n, Index k, SumOf<C> alpha, A const* a, Index lda,
          B const* b, Index ldb, SumOf<C> beta, C* c, Index ldc) {
  if (m == 0 || n == 0) return;
  require(m < blas_extent_limit && n < blas_extent_limit && k < blas_extent_limit && lda < blas_extent_limit &&
              ldb < blas_extent_limit && ldc < blas_extent_limit,
          "matrix extent beyond BLAS's 32-bit integers");
  GemmRegion const region(op_a, op_b, m, n, k);
  Tiling const tile(m, n, tiles_for<B>(exec));
  Index const across = (n + tile.columns - 1) / tile.columns;
  Index const tiles = ((m + tile.rows - 1) / tile.rows) * across;
  Kokkos::parallel_for("bellwether::core::gemm",
                       Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>(
                           exec, 0, tiles, Kokkos::ChunkSize(1)),
                       [=](Index t) {
                         Index const i = t / across * tile.rows, j = t % across * tile.columns;
                         Index const rows = std::min(tile.rows, m - i), columns = std::min(tile.columns, n - j);
                         gemm_tile(op_a, op_b, rows, columns, k, alpha, op_a == Op::none ? a + i * lda : a + i, lda,
                                   op_b == Op::none ? b + j : b + j * ldb, ldb, beta, c + i * ldc + j, ldc);
                       });
}

template <class T, class Space>
bool gemm_with(Space const& exec, Epilogue<T> const& epilogue, Op op_a, Op op_b, Index m, Index n, Index k, T const* a,
               Index lda, T const* b, Index ldb, T* c, Index ldc) {
  // Hosts that take the ways of devices, in tests, multiply as those without a BLAS do.
  if constexpr (TeamShape<Space>::host) {
    return false;
  } else {
    GemmRegion const region(op_a, op_b, m, n, k);
    team_gemm_with(exec, epilogue, TeamOperands<T, T>{op_a, op_b, m, n, k, a, lda, b, ldb}, c, ldc);
    return true;
  }
}

BELLWETHER_FOR_EACH_HOST_SPACE(BELLWETHER_GEMM)
BELLWETHER_FOR_EACH_HOST_SPACE(BELLWETHER_GEMM_WITH)

bool has_bf16_products() { return on_devices || cpu_has_bf16_products(); }

}  // namespace bellwether
