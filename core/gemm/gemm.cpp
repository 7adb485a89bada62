// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm/gemm.hpp"

#include "core/device/launch.hpp"
#include "core/gemm/gemm_definition.hpp"
#include "core/gemm/gemm_epilogue.hpp"
#include "core/gemm/team_epilogue.hpp"

#include <algorithm>

namespace bellwether {
namespace {

Index parts(Index extent, Index part) { return (extent + part - 1) / part; }

/// Tile size of a product in rows and columns.
struct Tiling {
  Index rows, columns;

  Index count(Index m, Index n) const { return parts(m, rows) * parts(n, columns); }
};

/// Splits a BLAS product into about sixteen tiles. A function of the problem only, because the tiling affects rounding.
Tiling tiles_for_blas(Index m, Index n) {
  constexpr Index tiles = 16, smallest = 64, whole = 32;
  Tiling tile{m, n};
  while (tile.count(m, n) < tiles) {
    Index& extent = tile.rows >= tile.columns ? tile.rows : tile.columns;
    if (extent < 2 * smallest) break;
    extent = parts(extent / 2, whole) * whole;
  }
  return tile;
}

/// Splits a panel product into one or two tiles per thread, whichever costs less; the tiling does not affect rounding.
/// Each element of k costs a tile rows * columns products, and packing its rows and columns.
Tiling tiles_for_threads(Index m, Index n, Index threads, PackingCosts const& packing) {
  constexpr Index whole_rows = 8, whole_columns = 32;
  if (threads == 1) return {m, n};
  Tiling best{m, n};
  Index lowest = 0;
  for (Index const tiles : {threads, 2 * threads})
    for (Index down = 1; down <= std::min(tiles, parts(m, whole_rows)); ++down) {
      Index const across = std::min(parts(tiles, down), parts(n, whole_columns));
      Tiling const tile{parts(parts(m, down), whole_rows) * whole_rows,
                        parts(parts(n, across), whole_columns) * whole_columns};
      Index const cost = parts(tile.count(m, n), threads) *
                         (tile.rows * tile.columns + packing.row * tile.rows + packing.column * tile.columns);
      if (lowest != 0 && cost >= lowest) continue;
      lowest = cost;
      best = tile;
    }
  return best;
}

/// Calls multiply(i, j, rows, columns) for each tile of a product, on one thread each. The tile begins at (i, j).
template <class T, class Space, class Multiply>
void for_each_tile(Space const& exec, GemmShape const& shape, Multiply const& multiply) {
  Index const m = shape.m, n = shape.n;
  Tiling const tile = is_by_blas<T>()
                          ? tiles_for_blas(m, n)
                          : tiles_for_threads(m, n, exec.concurrency(), packing_costs<T>(shape.op_a, shape.op_b));
  Index const across = parts(n, tile.columns);
  launch<"bellwether::core::gemm">(
      Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>(exec, 0, tile.count(m, n),
                                                                                              Kokkos::ChunkSize(1)),
      [=](Index t) {
        Index const i = t / across * tile.rows, j = t % across * tile.columns;
        multiply(i, j, std::min(tile.rows, m - i), std::min(tile.columns, n - j));
      });
}

}  // namespace

template <class A, class B, class C, class Space>
void gemm(Space const& exec, GemmShape const& shape, ConstMatrix<A> const& a, ConstMatrix<B> const& b,
          Matrix<C> const& c, Scaling<SumOf<C>> const& scaling) {
  if (shape.m == 0 || shape.n == 0) return;
  require_blas_extents({shape.m, shape.n, shape.k, a.ld, b.ld, c.ld});
  GemmRegion const region(shape);
  for_each_tile<B>(exec, shape, [=](Index i, Index j, Index rows, Index columns) {
    GemmShape const tile{shape.op_a, shape.op_b, rows, columns, shape.k};
    gemm_tile(tile, ConstMatrix{shape.op_a == Op::none ? a.at + i * a.ld : a.at + i, a.ld},
              ConstMatrix{shape.op_b == Op::none ? b.at + j : b.at + j * b.ld, b.ld}, Matrix{c.at + i * c.ld + j, c.ld},
              scaling);
  });
}

template <class T, class Space>
bool gemm_with_column_sums(Space const& exec, GemmExtents const& extents, ConstMatrix<T> const& a,
                           ConstMatrix<T> const& b, Matrix<SumOf<T>> const& c, SumOf<T>* sums) {
  if constexpr (std::is_same_v<T, double>) {
    return false;
  } else {
    if (is_by_blas<T>() || extents.n == 0) return false;
    if (extents.m == 0) return true;
    require_blas_extents({extents.m, extents.n, extents.k, a.ld, b.ld, c.ld});
    GemmShape const shape{Op::transpose, Op::none, extents.m, extents.n, extents.k};
    GemmRegion const region(shape);
    for_each_tile<T>(exec, shape, [=](Index i, Index j, Index rows, Index columns) {
      gemm_tile_with_sums({rows, columns, shape.k}, ConstMatrix{a.at + i, a.ld}, ConstMatrix{b.at + j, b.ld},
                          Matrix{c.at + i * c.ld + j, c.ld}, j == 0 ? sums + i : nullptr);
    });
    return true;
  }
}

template <class T, class Space>
bool gemm_with(Space const& exec, Epilogue<T> const& epilogue, GemmShape const& shape, ConstMatrix<T> const& a,
               ConstMatrix<T> const& b, Matrix<T> const& c) {
  // With BELLWETHER_DEVICE_TEAMS, host spaces use the device path, in tests: they multiply like devices without a BLAS.
  if constexpr (TeamShape<Space>::host) {
    return false;
  } else {
    GemmRegion const region(shape);
    team_gemm_with(exec, epilogue, team_operands(shape, a, b), c.at, c.ld);
    return true;
  }
}

#define BELLWETHER_GEMM_WITH_COLUMN_SUMS_OF(SPACE, T)                                                                 \
  template bool gemm_with_column_sums(SPACE const&, GemmExtents const&, ConstMatrix<T> const&, ConstMatrix<T> const&, \
                                      Matrix<SumOf<T>> const&, SumOf<T>*);
#define BELLWETHER_GEMM_WITH_COLUMN_SUMS(SPACE)      \
  BELLWETHER_GEMM_WITH_COLUMN_SUMS_OF(SPACE, float)  \
  BELLWETHER_GEMM_WITH_COLUMN_SUMS_OF(SPACE, double) \
  BELLWETHER_GEMM_WITH_COLUMN_SUMS_OF(SPACE, bf16)

BELLWETHER_FOR_EACH_HOST_SPACE(BELLWETHER_GEMM)
BELLWETHER_FOR_EACH_HOST_SPACE(BELLWETHER_GEMM_WITH_COLUMN_SUMS)
BELLWETHER_FOR_EACH_HOST_SPACE(BELLWETHER_GEMM_WITH)
BELLWETHER_FOR_EACH_HOST_SPACE(BELLWETHER_NO_GEMM_WORKSPACE)

bool has_bf16_products() { return on_devices || cpu_has_bf16_products(); }

}  // namespace bellwether
