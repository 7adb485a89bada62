// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/device_math.hpp"
#include "model/layers/layer_norm.hpp"
#include "model/layers/norm_team.hpp"

/// LayerNorm for devices. Every lane owns the same eight adjacent channels of all rows of its team. Rows are read once,
/// stay in registers until they are written once, and the per-channel parameters stay in registers too. The next rows
/// are loaded while the current ones are processed.
namespace bellwether::model {

/// adds: there are a bias and a residual.
template <bool adds, class Stored, class Space>
struct NormaliseByLanes {
  using Norm = NormTeam<Space>;
  using Channels = typename Norm::Channels;
  using Rows = typename Norm::Rows;
  using Kept = typename Norm::Kept;
  using Read = typename Norm::template Read<Stored>;
  static constexpr int own = Norm::own, at_once = Norm::at_once, here = Norm::here;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    Norm const norm(team, setting, p.rows, p.C, rows_of_team);
    Read sums, residuals;
    fetch(team, norm, norm.begin, sums, residuals);
    norm.fetch_origins(team, p.origin);
    Channels bias, gamma, beta;
    norm.lanes.all(team, [&](int worker, int mine) {
      int const k = norm.channel(worker);
      if constexpr (adds) load(p.bias + k, bias[mine]);
      load(p.gamma + k, gamma[mine]);
      load(p.beta + k, beta[mine]);
    });
    team.team_barrier();
    for (int r = norm.begin; r < norm.end; r += at_once) {
      Rows x, added;
      norm.lanes.all(team, [&](int, int mine) {
        BELLWETHER_UNROLL
        for (int i = 0; i < at_once; ++i) {
          sums[mine][i].unpack(x[mine][i]);
          if constexpr (adds) residuals[mine][i].unpack(added[mine][i]);
        }
      });
      if (r + at_once < norm.end) fetch(team, norm, r + at_once, sums, residuals);
      if constexpr (adds) add(team, norm, r, bias, added, x);
      normalise(team, norm, r, gamma, beta, x);
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void fetch(Team const& team, Norm const& norm, int r, Read& sums, Read& residuals) const {
    norm.lanes.all(team, [&](int worker, int mine) {
      norm.each_row(r, norm.channel(worker), [&](int i, int, Index at) {
        sums[mine][i].read(p.sum + at);
        if constexpr (adds) residuals[mine][i].read(p.residual + at);
      });
    });
  }

  /// x <- the sum to be normalised, rounded to Stored.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void add(Team const& team, Norm const& norm, int r, Channels const& bias, Rows const& added,
                                  Rows& x) const {
    Kept kept;
    norm.draw(team, r, kept);
    norm.lanes.all(team, [&](int worker, int mine) {
      norm.each_row(r, norm.channel(worker), [&](int i, int, Index at) {
        auto& of = x[mine][i];
        BELLWETHER_UNROLL
        for (int e = 0; e < own; ++e)
          of[e] = (of[e] + bias[mine][e]) * norm.factor(kept[mine][i], e) + added[mine][i][e];
        round_to(p.sum, of);
        if (norm.there(worker, r, i)) store(p.sum + at, of);
      });
    });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void normalise(Team const& team, Norm const& norm, int r, Channels const& gamma,
                                        Channels const& beta, Rows& x) const {
    float parts[here][at_once], mean[at_once], scale[at_once];
    norm.lanes.all(team, [&](int worker, int mine) {
      BELLWETHER_UNROLL
      for (int i = 0; i < at_once; ++i) {
        float sum = 0;
        BELLWETHER_UNROLL
        for (float const value : x[mine][i]) sum += value;
        parts[mine][i] = norm.has(worker) ? sum : 0.0f;
      }
    });
    norm.lanes.sum(team, parts, &norm.scratch.sums[0][0][0], mean);
    for (float& sum : mean) sum *= setting.per_channel;
    norm.lanes.all(team, [&](int worker, int mine) {
      BELLWETHER_UNROLL
      for (int i = 0; i < at_once; ++i) {
        float squares = 0;
        BELLWETHER_UNROLL
        for (float& value : x[mine][i]) {
          value -= mean[i];
          squares += value * value;
        }
        parts[mine][i] = norm.has(worker) ? squares : 0.0f;
      }
    });
    norm.lanes.sum(team, parts, &norm.scratch.sums[1][0][0], scale);
    for (float& squares : scale) squares = device_math::inverse_root(squares * setting.per_channel + p.epsilon);
    Kept kept;
    if constexpr (!adds) norm.draw(team, r, kept);
    norm.lanes.all(team, [&](int worker, int mine) {
      norm.each_row(r, norm.channel(worker), [&](int i, int place, Index at) {
        BELLWETHER_UNROLL
        for (int e = 0; e < own; ++e) {
          float& value = x[mine][i][e];
          value = value * scale[i] * gamma[mine][e] + beta[mine][e];
          if constexpr (!adds) value *= norm.factor(kept[mine][i], e);
        }
        if (norm.there(worker, r, i)) store(p.y + at, x[mine][i]);
        if (worker == 0 && r + i < norm.end) {
          p.mean[norm.begin + place] = mean[i];
          p.inverse_deviation[norm.begin + place] = scale[i];
        }
      });
    });
  }

  LayerNormForward<float, Stored> p;
  NormSetting setting;
  int rows_of_team;
};

/// Computes what NormaliseBlockBackward does.
template <bool adds, class Stored, class Space>
struct NormaliseBackwardByLanes {
  using Norm = NormTeam<Space>;
  using Channels = typename Norm::Channels;
  using Rows = typename Norm::Rows;
  using Kept = typename Norm::Kept;
  template <class T>
  using Read = typename Norm::template Read<T>;
  static constexpr int own = Norm::own, at_once = Norm::at_once, here = Norm::here;

  /// Sums over the rows of a block.
  struct Columns {
    Channels gamma, beta, bias;
  };

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    Norm const norm(team, setting, p.rows, p.C, ChannelLanes::most_rows);
    Read<float> dy;
    Read<Stored> sums;
    fetch(team, norm, norm.begin, dy, sums);
    norm.fetch_origins(team, p.origin);
    Columns columns;
    Channels gamma;
    norm.lanes.all(team, [&](int worker, int mine) {
      BELLWETHER_UNROLL
      for (int e = 0; e < own; ++e) columns.gamma[mine][e] = columns.beta[mine][e] = columns.bias[mine][e] = 0;
      load(p.gamma + norm.channel(worker), gamma[mine]);
      if (worker >= norm.end - norm.begin) return;
      float const scale = p.inverse_deviation[norm.begin + worker];
      norm.scratch.scale[worker] = scale;
      norm.scratch.shift[worker] = -p.mean[norm.begin + worker] * scale;
    });
    team.team_barrier();
    int turn = 0;
    for (int r = norm.begin; r < norm.end; r += at_once, turn ^= 1) {
      Rows d, xhat;
      norm.lanes.all(team, [&](int, int mine) {
        BELLWETHER_UNROLL
        for (int i = 0; i < at_once; ++i) {
          dy[mine][i].unpack(d[mine][i]);
          sums[mine][i].unpack(xhat[mine][i]);
        }
      });
      if (r + at_once < norm.end) fetch(team, norm, r + at_once, dy, sums);
      of_rows(team, norm, r, &norm.scratch.sums[turn][0][0], gamma, d, xhat, columns);
    }
    float* const to = partial + Index{team.league_rank()} * (adds ? 3 : 2) * p.C;
    norm.lanes.all(team, [&](int worker, int mine) {
      if (!norm.has(worker)) return;
      int const k = norm.channel(worker);
      store(to + k, columns.gamma[mine]);
      store(to + p.C + k, columns.beta[mine]);
      if constexpr (adds) store(to + 2 * p.C + k, columns.bias[mine]);
    });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void fetch(Team const& team, Norm const& norm, int r, Read<float>& dy,
                                    Read<Stored>& sums) const {
    norm.lanes.all(team, [&](int worker, int mine) {
      norm.each_row(r, norm.channel(worker), [&](int i, int, Index at) {
        dy[mine][i].read(p.dy + at);
        sums[mine][i].read(p.sum + at);
      });
    });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void of_rows(Team const& team, Norm const& norm, int r, float* staged, Channels const& gamma,
                                      Rows& d, Rows& xhat, Columns& columns) const {
    Kept kept;
    if constexpr (!adds) norm.draw(team, r, kept);
    float parts[here][2 * at_once], totals[2 * at_once];
    norm.lanes.all(team, [&](int worker, int mine) {
      norm.each_row(r, 0, [&](int i, int place, Index) {
        float const scale = norm.scratch.scale[place], shift = norm.scratch.shift[place];
        float first = 0, second = 0;
        if (r + i < norm.end) {
          BELLWETHER_UNROLL
          for (int e = 0; e < own; ++e) {
            float& x = xhat[mine][i][e];
            float& g = d[mine][i][e];
            x = x * scale + shift;
            if constexpr (!adds) g *= norm.factor(kept[mine][i], e);
            columns.gamma[mine][e] += g * x;
            columns.beta[mine][e] += g;
            g *= gamma[mine][e];
            first += g;
            second += g * x;
          }
        }
        parts[mine][i] = norm.has(worker) ? first : 0.0f;
        parts[mine][at_once + i] = norm.has(worker) ? second : 0.0f;
      });
    });
    norm.lanes.sum(team, parts, staged, totals);
    for (float& total : totals) total *= setting.per_channel;
    if constexpr (adds) norm.draw(team, r, kept);
    norm.lanes.all(team, [&](int worker, int mine) {
      norm.each_row(r, norm.channel(worker), [&](int i, int place, Index at) {
        if (r + i >= norm.end) return;
        float const scale = norm.scratch.scale[place];
        float(&of)[own] = d[mine][i];
        BELLWETHER_UNROLL
        for (int e = 0; e < own; ++e) of[e] = (of[e] - totals[i] - xhat[mine][i][e] * totals[at_once + i]) * scale;
        if (norm.has(worker)) store(p.dsum + at, of);
        if constexpr (adds) {
          BELLWETHER_UNROLL
          for (int e = 0; e < own; ++e) {
            of[e] *= norm.factor(kept[mine][i], e);
            columns.bias[mine][e] += of[e];
          }
          if (norm.has(worker)) store(p.da + at, of);
        }
      });
    });
  }

  LayerNormBackward<float, Stored> p;
  NormSetting setting;
  float* partial;  ///< see NormaliseBlockBackward
};

/// Runs layer_norm_forward() with lanes. \returns false and does nothing if C is not supported or a dropout is active
/// that BERT does not have there.
template <class Stored, class Space>
bool normalise_by_lanes(Space const& exec, LayerNormForward<float, Stored> const& p) {
  bool const adds = p.bias != nullptr;
  if (!lanes_take(p.C) || (adds ? p.out_dropout : p.in_dropout).active() ||
      !begin_packs<ChannelLanes::own>(p.sum, p.bias, p.residual, p.gamma, p.beta, p.y))
    return false;
  // Choose the rows per team so that there is a team for every 512 threads that the device runs.
  constexpr Index at_once = ChannelLanes::at_once, most = ChannelLanes::most_rows;
  Index const wanted = (p.rows * 512 / exec.concurrency() + at_once - 1) / at_once * at_once,
              rows = Kokkos::clamp(wanted, at_once, most);
  auto const run = [&]<bool adds_one>(std::bool_constant<adds_one>) {
    run_lanes("bellwether::model::layer_norm_forward", exec, (p.rows + rows - 1) / rows,
              NormaliseByLanes<adds_one, Stored, Space>{
                  p, {p.C, adds_one ? p.in_dropout : p.out_dropout}, static_cast<int>(rows)});
  };
  adds ? run(std::true_type()) : run(std::false_type());
  return true;
}

/// Runs the part of layer_norm_backward() before the sums over blocks. \returns see normalise_by_lanes().
template <class Stored, class Space>
bool normalise_backward_by_lanes(Space const& exec, LayerNormBackward<float, Stored> const& p, float* partial) {
  bool const adds = p.da != nullptr;
  if (!lanes_take(p.C) || (adds ? p.out_dropout : p.in_dropout).active() ||
      !begin_packs<ChannelLanes::own>(p.dy, p.sum, p.gamma, p.dsum, p.da, partial))
    return false;
  auto const run = [&]<bool adds_one>(std::bool_constant<adds_one>) {
    run_lanes(
        "bellwether::model::layer_norm_backward", exec, row_blocks(p.rows),
        NormaliseBackwardByLanes<adds_one, Stored, Space>{p, {p.C, adds_one ? p.in_dropout : p.out_dropout}, partial});
  };
  adds ? run(std::true_type()) : run(std::false_type());
  return true;
}

}  // namespace bellwether::model
