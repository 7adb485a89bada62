// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/launch.hpp"
#include "core/device/workers.hpp"
#include "core/gemm/gemm_tile.hpp"

namespace bellwether {

/// Parameters of a product by a team. A team computes 64 x 64 elements at a time; each worker computes 4 x 4 of them.
/// Scratch memory holds 16 columns of op(A) and 16 rows of op(B). Each element is summed over k in order.
struct TeamProduct {
  static constexpr int extent = 64, depth = 16, own = 4, across = extent / own;
  static constexpr int padded = extent + 1;  ///< columns of a staged row; avoids bank conflicts along k
  static constexpr int staged = 2 * depth * padded;
};

/// Operands of a product, as in gemm_tile().
template <class A, class B>
struct TeamOperands {
  using Real = SumOf<B>;

  Op op_a, op_b;
  Index m, n, k;
  A const* a;
  Index lda;
  B const* b;
  Index ldb;

  /// Returns an element of op(A); a float is rounded to bf16 if B is bf16.
  KOKKOS_INLINE_FUNCTION Real left(Index i, Index l) const {
    A const value = a[op_a == Op::none ? i * lda + l : l * lda + i];
    if constexpr (std::is_same_v<B, bf16>)
      return bf16(value);
    else
      return value;
  }
  KOKKOS_INLINE_FUNCTION Real right(Index l, Index j) const { return b[op_b == Op::none ? l * ldb + j : j * ldb + l]; }
};

template <class A, class B>
KOKKOS_INLINE_FUNCTION TeamOperands<A, B> team_operands(GemmShape const& p, ConstMatrix<A> const& a,
                                                        ConstMatrix<B> const& b) {
  return {p.op_a, p.op_b, p.m, p.n, p.k, a.at, a.ld, b.at, b.ld};
}

/// Stores C = alpha sum + beta C. With beta = 0, C is not read.
template <class C>
struct ScaledStore {
  using Real = SumOf<C>;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j, Real sum) const {
    Real const product = alpha * sum;
    c[i * ldc + j] = C(beta == Real(0) ? product : beta * c[i * ldc + j] + product);
  }

  Real alpha, beta;
  C* c;
  Index ldc;
};

/// Computes the tile of op(A) op(B) that begins at (i0, j0) and calls store(i, j, sum) for each of its elements.
/// scratch: (TeamProduct::staged) of team scratch. Ends with a barrier.
template <class Space, class Team, class A, class B, class Store>
KOKKOS_INLINE_FUNCTION void team_product_tile(Team const& team, TeamOperands<A, B> const& p, Index i0, Index j0,
                                              Store const& store, SumOf<B>* scratch) {
  using Real = SumOf<B>;
  using P = TeamProduct;
  using W = Workers<Space>;
  constexpr int loads = P::extent * P::depth / W::count;
  Real *const a_staged = scratch, *const b_staged = scratch + P::depth * P::padded;
  Real sums[W::here][P::own][P::own] = {};
  for (Index l0 = 0; l0 < p.k; l0 += P::depth) {
    W::all(team, [&](int worker, int) {
      for (int load = 0; load < loads; ++load) {
        int const at = worker + load * W::count;
        // Neighbouring workers read neighbouring elements of the matrix in memory.
        int const ai = p.op_a == Op::none ? at / P::depth : at % P::extent;
        int const al = p.op_a == Op::none ? at % P::depth : at / P::extent;
        Index const i = i0 + ai, la = l0 + al;
        a_staged[al * P::padded + ai] = i < p.m && la < p.k ? p.left(i, la) : Real(0);
        int const bj = p.op_b == Op::none ? at % P::extent : at / P::depth;
        int const bl = p.op_b == Op::none ? at / P::extent : at % P::depth;
        Index const j = j0 + bj, lb = l0 + bl;
        b_staged[bl * P::padded + bj] = j < p.n && lb < p.k ? p.right(lb, j) : Real(0);
      }
    });
    W::all(team, [&](int worker, int mine) {
      int const row = worker / P::across, column = worker % P::across;
      for (int l = 0; l < P::depth; ++l) {
        Real left[P::own], right[P::own];
        for (int e = 0; e < P::own; ++e) {
          left[e] = a_staged[l * P::padded + row + e * P::across];
          right[e] = b_staged[l * P::padded + column + e * P::across];
        }
        for (int i = 0; i < P::own; ++i)
          for (int j = 0; j < P::own; ++j) sums[mine][i][j] += left[i] * right[j];
      }
    });
  }
  W::all(team, [&](int worker, int mine) {
    int const row = worker / P::across, column = worker % P::across;
    for (int i = 0; i < P::own; ++i)
      for (int j = 0; j < P::own; ++j) {
        Index const ci = i0 + row + i * P::across, cj = j0 + column + j * P::across;
        if (ci < p.m && cj < p.n) store(ci, cj, sums[mine][i][j]);
      }
  });
}

/// C = alpha op(A) op(B) by one team, tile by tile.
template <class Space, class Team, class A, class B, class C>
KOKKOS_INLINE_FUNCTION void team_product(Team const& team, TeamOperands<A, B> const& p, SumOf<C> alpha, C* c, Index ldc,
                                         SumOf<B>* scratch) {
  for (Index i0 = 0; i0 < p.m; i0 += TeamProduct::extent)
    for (Index j0 = 0; j0 < p.n; j0 += TeamProduct::extent)
      team_product_tile<Space>(team, p, i0, j0, ScaledStore<C>{alpha, SumOf<C>(0), c, ldc}, scratch);
}

/// The same with one team per tile, for devices without a BLAS.
template <class A, class B, class Store, class Space>
void team_gemm(Space const& exec, TeamOperands<A, B> const& p, Store const& store) {
  using Real = SumOf<B>;
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const across = (p.n + TeamProduct::extent - 1) / TeamProduct::extent;
  Index const tiles = (p.m + TeamProduct::extent - 1) / TeamProduct::extent * across;
  auto policy = team_policy(exec, tiles);
  policy.set_scratch_size(0, Kokkos::PerTeam(TeamProduct::staged * static_cast<int>(sizeof(Real))));
  launch<"bellwether::core::gemm">(
      policy, KOKKOS_LAMBDA(Team const& team) {
        auto* const scratch = static_cast<Real*>(team.team_scratch(0).get_shmem(TeamProduct::staged * sizeof(Real)));
        Index const tile = team.league_rank();
        team_product_tile<Space>(team, p, tile / across * TeamProduct::extent, tile % across * TeamProduct::extent,
                                 store, scratch);
      });
}

/// gemm() by teams.
template <class A, class B, class C, class Space>
void team_gemm(Space const& exec, TeamOperands<A, B> const& p, SumOf<C> alpha, SumOf<C> beta, C* c, Index ldc) {
  team_gemm(exec, p, ScaledStore<C>{alpha, beta, c, ldc});
}

}  // namespace bellwether
