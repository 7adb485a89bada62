// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/lanes.hpp"
#include "core/pack.hpp"
#include "model/layers/layer_norm.hpp"
#include "model/layers/rows.hpp"

/// LayerNorm for devices, a row in the registers of 32 lanes from its one reading to its one writing.
namespace bellwether::model {

/// Which channels of a row are whose: eight lanes share 64 of them, 256 a step, so that a lane has all four that
/// dropout draws together, for two draws, whose channels are neighbours.
struct RowShare {
  static constexpr int parts = 4, pair = 2, step = 4 * dropout_chunk, most_steps = 4;

  KOKKOS_INLINE_FUNCTION static Index channel(int at_step, int lane, int part) {
    return Index{step} * at_step + dropout_chunk * (lane / 8) + 16 * part + pair * (lane % 8);
  }
  KOKKOS_INLINE_FUNCTION static std::uint32_t counter(int at_step, int lane) {
    return static_cast<std::uint32_t>(16 * (4 * at_step + lane / 8) + pair * (lane % 8));
  }
};

/// What a lane has of a row.
template <int steps>
using Held = float[steps][RowShare::parts][RowShare::pair];

/// factor <- dropout's of what a lane has of a step.
KOKKOS_INLINE_FUNCTION void factors_of_step(bool active, DropoutDraw<float> const& draw, int step, int lane,
                                            float (&factor)[RowShare::parts][RowShare::pair]) {
  BELLWETHER_UNROLL
  for (int e = 0; e < RowShare::pair; ++e) {
    auto const bits = active ? draw.bits(RowShare::counter(step, lane) + static_cast<std::uint32_t>(e)) : Philox4{};
    BELLWETHER_UNROLL
    for (int part = 0; part < RowShare::parts; ++part) factor[part][e] = active ? draw.factor(bits.x[part]) : 1.0f;
  }
}

/// Dropout's draws at a row; anything where it is not active.
KOKKOS_INLINE_FUNCTION DropoutDraw<float> draw_at(Dropout const& dropout, RowOrigin const& origin, Index r) {
  return dropout.active() ? DropoutDraw<float>(dropout, origin.samples[r], origin.positions[r])
                          : DropoutDraw<float>(Dropout{}, 0, 0);
}

/// body(step, part, channel) for what a lane has of a row of C channels.
template <int steps, class Body>
KOKKOS_INLINE_FUNCTION void each_pair(int lane, Index C, Body const& body) {
  BELLWETHER_UNROLL
  for (int step = 0; step < steps; ++step) {
    BELLWETHER_UNROLL
    for (int part = 0; part < RowShare::parts; ++part)
      if (Index const k = RowShare::channel(step, lane, part); k < C) body(step, part, k);
  }
}

template <class Stored, int steps, class Space>
struct NormaliseByLanes {
  using Policy = LanePolicy<Space, steps == 4 ? 3 : 4>;
  using Team = typename Policy::member_type;
  using L = Lanes<Space>;

  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    Index const r = Index{team.league_rank()} * team.team_size() + team.team_rank(), C = p.C;
    if (r >= p.rows) return;
    Held<steps> held[L::here];
    float parts[L::here];
    auto const in_draw = draw_at(p.in_dropout, p.origin, r), out_draw = draw_at(p.out_dropout, p.origin, r);
    L::all(team, [&](int lane, int mine) {
      read(r, lane, in_draw, held[mine]);
      parts[mine] = 0;
      each_pair<steps>(lane, C, [&](int step, int part, Index) {
        parts[mine] += held[mine][step][part][0] + held[mine][step][part][1];
      });
    });
    float const mean = L::sum(team, parts) / static_cast<float>(C);
    L::all(team, [&](int lane, int mine) {
      parts[mine] = 0;
      each_pair<steps>(lane, C, [&](int step, int part, Index) {
        for (float const x : held[mine][step][part]) parts[mine] += (x - mean) * (x - mean);
      });
    });
    float const scale = 1.0f / Kokkos::sqrt(L::sum(team, parts) / static_cast<float>(C) + p.epsilon);
    L::all(team, [&](int lane, int mine) {
      write(r, lane, out_draw, mean, scale, held[mine]);
      if (lane == 0) {
        p.mean[r] = mean;
        p.inverse_deviation[r] = scale;
      }
    });
  }

  /// The sum that is normalised, as it is stored.
  KOKKOS_INLINE_FUNCTION void read(Index r, int lane, DropoutDraw<float> const& draw, Held<steps>& held) const {
    Stored* const sum = p.sum + r * p.C;
    each_pair<steps>(lane, p.C, [&](int step, int part, Index k) { load(sum + k, held[step][part]); });
    if (p.bias == nullptr) return;
    Stored const* const residual = p.residual + r * p.C;
    Held<steps> added;
    each_pair<steps>(lane, p.C, [&](int step, int part, Index k) { load(residual + k, added[step][part]); });
    float factor[RowShare::parts][RowShare::pair];
    each_pair<steps>(lane, p.C, [&](int step, int part, Index k) {
      if (part == 0) factors_of_step(p.in_dropout.active(), draw, step, lane, factor);
      float bias[RowShare::pair];
      load(p.bias + k, bias);
      BELLWETHER_UNROLL
      for (int e = 0; e < RowShare::pair; ++e)
        held[step][part][e] = (held[step][part][e] + bias[e]) * factor[part][e] + added[step][part][e];
      round_to(sum, held[step][part]);
      store(sum + k, held[step][part]);
    });
  }

  KOKKOS_INLINE_FUNCTION void write(Index r, int lane, DropoutDraw<float> const& draw, float mean, float scale,
                                    Held<steps> const& held) const {
    float factor[RowShare::parts][RowShare::pair];
    each_pair<steps>(lane, p.C, [&](int step, int part, Index k) {
      if (part == 0) factors_of_step(p.out_dropout.active(), draw, step, lane, factor);
      float gamma[RowShare::pair], beta[RowShare::pair], y[RowShare::pair];
      load(p.gamma + k, gamma);
      load(p.beta + k, beta);
      BELLWETHER_UNROLL
      for (int e = 0; e < RowShare::pair; ++e)
        y[e] = ((held[step][part][e] - mean) * scale * gamma[e] + beta[e]) * factor[part][e];
      store(p.y + r * p.C + k, y);
    });
  }

  LayerNormForward<float, Stored> p;
};

/// As NormaliseBlockBackward. The threads of a team take the rows of its block in turn, and add up columns for
/// themselves, then in their order.
template <class Stored, int steps, class Space>
struct NormaliseBackwardByLanes {
  using Policy = LanePolicy<Space, 2>;
  using Team = typename Policy::member_type;
  using L = Lanes<Space>;
  struct Columns {
    Held<steps> gamma, beta, bias;
  };

  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    Columns columns[L::here];
    L::all(team, [&](int, int mine) {
      for (auto* const sums : {&columns[mine].gamma, &columns[mine].beta, &columns[mine].bias})
        for (auto& step : *sums)
          for (auto& part : step)
            for (float& sum : part) sum = 0;
    });
    Index const block = team.league_rank(), end = Kokkos::min(p.rows, (block + 1) * row_block);
    for (Index r = block * row_block + team.team_rank(); r < end; r += team.team_size()) of_row(team, r, columns);
    add_up(team, columns, p.partial + block * (p.da == nullptr ? 2 : 3) * p.C);
  }

  KOKKOS_INLINE_FUNCTION void of_row(Team const& team, Index r, Columns (&columns)[L::here]) const {
    Index const C = p.C;
    float const mean = p.mean[r], scale = p.inverse_deviation[r];
    Held<steps> dy[L::here], xhat[L::here];
    float first[L::here], second[L::here];
    auto const in_draw = draw_at(p.in_dropout, p.origin, r), out_draw = draw_at(p.out_dropout, p.origin, r);
    L::all(team, [&](int lane, int mine) {
      first[mine] = second[mine] = 0;
      each_pair<steps>(lane, C, [&](int step, int part, Index k) {
        load(p.dy + r * C + k, dy[mine][step][part]);
        load(p.sum + r * C + k, xhat[mine][step][part]);
      });
      float factor[RowShare::parts][RowShare::pair];
      each_pair<steps>(lane, C, [&](int step, int part, Index k) {
        if (part == 0) factors_of_step(p.out_dropout.active(), out_draw, step, lane, factor);
        float gamma[RowShare::pair];
        load(p.gamma + k, gamma);
        BELLWETHER_UNROLL
        BELLWETHER_UNROLL
        for (int e = 0; e < RowShare::pair; ++e) {
          float& x = xhat[mine][step][part][e];
          float& d = dy[mine][step][part][e];
          x = (x - mean) * scale;
          d *= factor[part][e];
          columns[mine].gamma[step][part][e] += d * x;
          columns[mine].beta[step][part][e] += d;
          d *= gamma[e];
          first[mine] += d;
          second[mine] += d * x;
        }
      });
    });
    float const total = L::sum(team, first) / static_cast<float>(C);
    float const product = L::sum(team, second) / static_cast<float>(C);
    L::all(team, [&](int lane, int mine) {
      float factor[RowShare::parts][RowShare::pair];
      each_pair<steps>(lane, C, [&](int step, int part, Index k) {
        float dsum[RowShare::pair], da[RowShare::pair];
        BELLWETHER_UNROLL
        BELLWETHER_UNROLL
        for (int e = 0; e < RowShare::pair; ++e)
          dsum[e] = (dy[mine][step][part][e] - total - xhat[mine][step][part][e] * product) * scale;
        store(p.dsum + r * C + k, dsum);
        if (p.da == nullptr) return;
        if (part == 0) factors_of_step(p.in_dropout.active(), in_draw, step, lane, factor);
        BELLWETHER_UNROLL
        BELLWETHER_UNROLL
        for (int e = 0; e < RowShare::pair; ++e) {
          da[e] = dsum[e] * factor[part][e];
          columns[mine].bias[step][part][e] += da[e];
        }
        store(p.da + r * C + k, da);
      });
    });
  }

  /// to: (2 C or 3 C). Thread after thread, in scratch.
  KOKKOS_INLINE_FUNCTION void add_up(Team const& team, Columns const (&columns)[L::here], float* to) const {
    Index const count = (p.da == nullptr ? 2 : 3) * p.C;
    auto* const sums = static_cast<float*>(team.team_scratch(0).get_shmem_aligned(scratch_bytes(p.C), 16));
    for (int thread = 0; thread < team.team_size(); ++thread) {
      if (team.team_rank() == thread)
        L::all(team, [&](int lane, int mine) {
          each_pair<steps>(lane, p.C, [&](int step, int part, Index k) {
            add(thread, columns[mine].gamma[step][part], sums + k);
            add(thread, columns[mine].beta[step][part], sums + p.C + k);
            if (p.da != nullptr) add(thread, columns[mine].bias[step][part], sums + 2 * p.C + k);
          });
        });
      team.team_barrier();
    }
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count), [&](Index const k) { to[k] = sums[k]; });
  }
  KOKKOS_INLINE_FUNCTION static int scratch_bytes(Index C) { return static_cast<int>(3 * C * sizeof(float)); }
  KOKKOS_INLINE_FUNCTION static void add(int thread, float const (&sums)[RowShare::pair], float* to) {
    float all[RowShare::pair] = {};
    if (thread > 0) load(to, all);
    BELLWETHER_UNROLL
    for (int e = 0; e < RowShare::pair; ++e) all[e] += sums[e];
    store(to, all);
  }

  LayerNormBackward<float, Stored> p;
};

/// Whether rows of C channels are for lanes.
inline bool lanes_take(Index C) { return C % dropout_chunk == 0 && C <= RowShare::step * RowShare::most_steps; }

/// body(std::integral_constant of the steps that C channels take)
template <class Body>
void with_steps(Index C, Body const& body) {
  switch ((C + RowShare::step - 1) / RowShare::step) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 3:
      return body(std::integral_constant<int, 3>());
    default:
      return body(std::integral_constant<int, 4>());
  }
}

/// layer_norm_forward() by lanes. \returns false, nothing done, where rows are not for them.
template <class Stored, class Space>
bool normalise_by_lanes(Space const& exec, LayerNormForward<float, Stored> const& p) {
  if (!lanes_take(p.C) || !begin_packs<RowShare::pair>(p.sum, p.bias, p.residual, p.gamma, p.beta, p.y)) return false;
  with_steps(p.C, [&]<int steps>(std::integral_constant<int, steps>) {
    using Kernel = NormaliseByLanes<Stored, steps, Space>;
    constexpr Index threads = lane_threads<Space>;
    Kokkos::parallel_for("bellwether::model::layer_norm_forward",
                         lane_policy<typename Kernel::Policy>(exec, (p.rows + threads - 1) / threads), Kernel{p});
  });
  return true;
}

/// The part of layer_norm_backward() before sums over blocks, by lanes. \returns false, nothing done, where rows are
/// not for them.
template <class Stored, class Space>
bool normalise_backward_by_lanes(Space const& exec, LayerNormBackward<float, Stored> const& p) {
  if (!lanes_take(p.C) || !begin_packs<RowShare::pair>(p.dy, p.sum, p.gamma, p.dsum, p.da, p.partial)) return false;
  with_steps(p.C, [&]<int steps>(std::integral_constant<int, steps>) {
    using Kernel = NormaliseBackwardByLanes<Stored, steps, Space>;
    auto policy = lane_policy<typename Kernel::Policy>(exec, row_blocks(p.rows));
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(p.C) + 16));
    Kokkos::parallel_for("bellwether::model::layer_norm_backward", policy, Kernel{p});
  });
  return true;
}

}  // namespace bellwether::model
