// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/gemm/team_product.hpp"
#include "model/layers/attention.hpp"

namespace bellwether::model {

/// Attention for devices. A team of 256 workers processes one head of one sequence at a time. Its (S, S) matrices are
/// in global scratch memory, small enough to stay in the L2 cache. On a host, where only tests run it, a team is one
/// thread.
template <class Real, class Stored, class Space>
struct TeamAttention {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  using W = Workers<Space>;
  static constexpr int row_lanes = 16;  ///< workers that share a row of an (S, S) matrix
  static constexpr int rows_at_once = W::count / row_lanes;
  static constexpr int shared = TeamProduct::staged + 2 * W::count;  ///< numbers in team scratch

  Attention<Real, Stored> p;

  /// One head of one sequence; q, k, v: rows of 3 C elements.
  struct Head {
    Index first, length, width, stride, head;
    std::int64_t sample;
    Real scale;
    Stored const *q, *k, *v;
  };
  KOKKOS_INLINE_FUNCTION Head head_of(Index pair) const {
    Index const b = pair / p.heads, h = pair % p.heads, D = p.C / p.heads;
    Index const first = p.sequence_offsets[b];
    Stored const* q = p.qkv + first * 3 * p.C + h * D;
    return {first,
            p.sequence_offsets[b + 1] - first,
            D,
            3 * p.C,
            h,
            p.samples[b],
            Real(1) / Kokkos::sqrt(static_cast<Real>(D)),
            q,
            q + p.C,
            q + 2 * p.C};
  }

  /// to(i, j) = from(i, j) * dropout factor. (S, S). A worker handles the four elements of a draw. Ends with a barrier.
  KOKKOS_INLINE_FUNCTION void drop(Team const& team, Head const& h, Real const* from, Real* to) const {
    Index const S = h.length, counters = DropoutDraw<Real>::counters(S);
    auto const first = static_cast<std::uint32_t>(h.head * p.position_stride / 4);
    W::all(team, [&](int worker, int) {
      for (Index at = worker; at < S * counters; at += W::count) {
        Index const i = at / counters, counter = at % counters;
        DropoutDraw<Real> const draw(p.dropout, h.sample, static_cast<std::int32_t>(i));
        auto const bits = draw.bits(first + static_cast<std::uint32_t>(counter));
        for (int part = 0; part < 4; ++part) {
          Index const j = DropoutDraw<Real>::channel(counter, part);
          if (j < S) to[i * S + j] = from[i * S + j] * draw.factor(bits.x[part]);
        }
      }
    });
  }

  /// matrix(i, j) <- softmax over j, without overflow. matrix: (S, S); numbers: (2 W::count) team scratch.
  KOKKOS_INLINE_FUNCTION void softmax_rows(Team const& team, Index S, Real* matrix, Real* numbers) const {
    Real *const largest = numbers, *const totals = numbers + W::count;
    for (Index i0 = 0; i0 < S; i0 += rows_at_once) {
      W::all(team, [&](int worker, int) {
        Index const i = i0 + worker / row_lanes, lane = worker % row_lanes;
        largest[worker] = lane < S && i < S ? matrix[i * S + lane] : -Kokkos::Experimental::infinity_v<Real>;
        if (i < S)
          for (Index j = lane; j < S; j += row_lanes)
            largest[worker] = matrix[i * S + j] > largest[worker] ? matrix[i * S + j] : largest[worker];
      });
      W::all(team, [&](int worker, int) {
        Index const i = i0 + worker / row_lanes;
        Real const* const of_row = largest + worker / row_lanes * row_lanes;
        Real most = of_row[0], total = 0;
        for (int lane = 1; lane < row_lanes; ++lane) most = of_row[lane] > most ? of_row[lane] : most;
        if (i < S)
          for (Index j = worker % row_lanes; j < S; j += row_lanes) {
            Real const e = math::exp(matrix[i * S + j] - most);
            matrix[i * S + j] = e;
            total += e;
          }
        totals[worker] = total;
      });
      W::all(team, [&](int worker, int) {
        Index const i = i0 + worker / row_lanes;
        Real const scale = Real(1) / row_total(totals, worker);
        if (i < S)
          for (Index j = worker % row_lanes; j < S; j += row_lanes) matrix[i * S + j] *= scale;
      });
    }
  }

  /// Returns the sum over the workers that share the row of `worker`.
  KOKKOS_INLINE_FUNCTION static Real row_total(Real const* totals, int worker) {
    Real const* const of_row = totals + worker / row_lanes * row_lanes;
    Real total = 0;
    for (int lane = 0; lane < row_lanes; ++lane) total += of_row[lane];
    return total;
  }

  KOKKOS_INLINE_FUNCTION void form_probabilities(Team const& team, Head const& h, Real* matrix, Real* numbers) const {
    team_product<Space>(team,
                        team_operands({Op::none, Op::transpose, h.length, h.length, h.width},
                                      ConstMatrix{h.q, h.stride}, ConstMatrix{h.k, h.stride}),
                        h.scale, matrix, h.length, numbers);
    softmax_rows(team, h.length, matrix, numbers + TeamProduct::staged);
  }

  KOKKOS_INLINE_FUNCTION void forward(Team const& team, Index pair, Real* matrix, Real* numbers,
                                      Stored* context) const {
    Head const h = head_of(pair);
    Index const S = h.length;
    form_probabilities(team, h, matrix, numbers);
    if (p.dropout.active()) drop(team, h, matrix, matrix);
    team_product<Space>(
        team, team_operands({Op::none, Op::none, S, h.width, S}, ConstMatrix{matrix, S}, ConstMatrix{h.v, h.stride}),
        Real(1), context + h.first * p.C + h.head * h.width, p.C, numbers);
  }

  /// Backward, as in attention_host.cpp: W = mask * P; dW = dO V^T; dV = W^T dO; dS = W * dW - P * rowsum(W * dW).
  KOKKOS_INLINE_FUNCTION void backward(Team const& team, Index pair, Real* matrices, Real* numbers,
                                       Stored const* dcontexts, Stored* dqkv) const {
    Head const h = head_of(pair);
    Index const S = h.length, D = h.width, column = h.head * D;
    Real *const probabilities = matrices, *const dweights = matrices + 2 * S * S;
    Real* const weights = p.dropout.active() ? matrices + S * S : probabilities;
    Stored const* const dcontext = dcontexts + h.first * p.C + column;
    Stored *const dq = dqkv + h.first * h.stride + column, *const dk = dq + p.C, *const dv = dq + 2 * p.C;
    form_probabilities(team, h, probabilities, numbers);
    if (p.dropout.active()) drop(team, h, probabilities, weights);
    team_product<Space>(
        team, team_operands({Op::transpose, Op::none, S, D, S}, ConstMatrix{weights, S}, ConstMatrix{dcontext, p.C}),
        Real(1), dv, h.stride, numbers);
    team_product<Space>(
        team, team_operands({Op::none, Op::transpose, S, S, D}, ConstMatrix{dcontext, p.C}, ConstMatrix{h.v, h.stride}),
        Real(1), dweights, S, numbers);
    Real* const totals = numbers + TeamProduct::staged;
    for (Index i0 = 0; i0 < S; i0 += rows_at_once) {
      W::all(team, [&](int worker, int) {
        Index const i = i0 + worker / row_lanes;
        Real total = 0;
        if (i < S)
          for (Index j = worker % row_lanes; j < S; j += row_lanes) {
            dweights[i * S + j] *= weights[i * S + j];
            total += dweights[i * S + j];
          }
        totals[worker] = total;
      });
      W::all(team, [&](int worker, int) {
        Index const i = i0 + worker / row_lanes;
        Real const total = row_total(totals, worker);
        if (i < S)
          for (Index j = worker % row_lanes; j < S; j += row_lanes)
            dweights[i * S + j] -= probabilities[i * S + j] * total;
      });
    }
    team_product<Space>(
        team, team_operands({Op::none, Op::none, S, D, S}, ConstMatrix{dweights, S}, ConstMatrix{h.k, h.stride}),
        h.scale, dq, h.stride, numbers);
    team_product<Space>(
        team, team_operands({Op::transpose, Op::none, S, D, S}, ConstMatrix{dweights, S}, ConstMatrix{h.q, h.stride}),
        h.scale, dk, h.stride, numbers);
  }
};

/// Loops over heads; each team has its own (3, S, S) matrices of p.scratch and its own team scratch. The assignment of
/// heads to teams does not affect results. A function object: nvcc copies a lambda inside a lambda to the heap at every
/// launch.
template <class Real, class Stored, class Space, class Body>
struct EachHead {
  using Run = TeamAttention<Real, Stored, Space>;

  KOKKOS_INLINE_FUNCTION void operator()(typename Run::Team const& team) const {
    auto const& p = run.p;
    Index const pairs = p.sequences * p.heads, size = 3 * p.longest * p.longest;
    auto* const numbers = static_cast<Real*>(team.team_scratch(0).get_shmem(Run::shared * sizeof(Real)));
    for (Index pair = team.league_rank(); pair < pairs; pair += teams)
      body(run, team, pair, p.scratch + team.league_rank() * size, numbers);
  }

  Run run;
  Index teams;
  Body body;
};

template <class Stored>
struct ForwardOfHead {
  template <class Run, class Real>
  KOKKOS_INLINE_FUNCTION void operator()(Run const& run, typename Run::Team const& team, Index pair, Real* matrices,
                                         Real* numbers) const {
    run.forward(team, pair, matrices, numbers, context);
  }

  Stored* context;
};

template <class Stored>
struct BackwardOfHead {
  template <class Run, class Real>
  KOKKOS_INLINE_FUNCTION void operator()(Run const& run, typename Run::Team const& team, Index pair, Real* matrices,
                                         Real* numbers) const {
    run.backward(team, pair, matrices, numbers, dcontext, dqkv);
  }

  Stored const* dcontext;
  Stored* dqkv;
};

/// slots: number of teams that p.scratch has room for.
template <class Real, class Stored, class Space, class Body>
void for_each_head(Space const& exec, char const* label, Attention<Real, Stored> const& p, Index slots,
                   Body const& body) {
  using Kernel = EachHead<Real, Stored, Space, Body>;
  Index const teams = Kokkos::min(slots, p.sequences * p.heads);
  auto policy = team_policy(exec, teams);
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::Run::shared * static_cast<int>(sizeof(Real))));
  Kokkos::parallel_for(label, policy, Kernel{{p}, teams, body});
}

/// Implements attention_forward(). slots: see for_each_head().
template <class Real, class Stored, class Space>
void team_attention_forward(Space const& exec, Attention<Real, Stored> const& p, Index slots, Stored* context) {
  for_each_head(exec, "bellwether::model::attention_forward", p, slots, ForwardOfHead<Stored>{context});
}

/// Implements attention_backward(). slots: see for_each_head().
template <class Real, class Stored, class Space>
void team_attention_backward(Space const& exec, Attention<Real, Stored> const& p, Index slots, Stored const* dcontext,
                             Stored* dqkv) {
  for_each_head(exec, "bellwether::model::attention_backward", p, slots, BackwardOfHead<Stored>{dcontext, dqkv});
}

}  // namespace bellwether::model
