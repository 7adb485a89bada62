// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/lanes.hpp"
#include "core/simd/pack.hpp"
#include "model/layers/dropout.hpp"
#include "model/layers/rows.hpp"

#include <type_traits>

/// Building blocks of the kernels in layer_norm_lanes.hpp.
namespace bellwether::model {

struct ChannelLanes {
  static constexpr int own = 8, warp = own * 32;  ///< channels
  static constexpr int at_once = 2;               ///< rows that share a reduction
  static constexpr int most_warps = 4, most_channels = most_warps * warp;
  static constexpr int most_rows = static_cast<int>(row_block);  ///< rows of a team

  static int warps(Index C) { return static_cast<int>((C + warp - 1) / warp); }
};

/// Constants of all teams of a kernel. Dropout acts on the input if there is a residual, otherwise on the output.
struct NormSetting {
  NormSetting(Index C, Dropout const& of)
      : dropout(of), rule(of), warps(ChannelLanes::warps(C)), per_channel(1 / static_cast<float>(C)) {}

  Dropout dropout;
  DropoutRule<float> rule;
  int warps;
  float per_channel;  ///< 1 / C
};

/// The rows [begin, end) of a team and its team scratch. Rows beyond the end and lanes without channels read the last
/// row or channel again and write nothing. This is predicated, because branches would make the lanes of a warp diverge.
template <class Space>
struct NormTeam {
  static constexpr int own = ChannelLanes::own, at_once = ChannelLanes::at_once;
  using Lanes = TeamLanes<Space, ChannelLanes::most_warps>;
  static constexpr int here = Lanes::here;
  using Channels = float[here][own];          ///< one number for each channel
  using Rows = float[here][at_once][own];     ///< one number for each channel of `at_once` rows
  using Kept = std::uint32_t[here][at_once];  ///< dropout bits of these rows, one bit for each channel
  template <class T>
  using Read = PackedRun<T, own>[here][at_once];  ///< rows as read from memory

  struct Scratch {
    float sums[2][ChannelLanes::most_warps][2 * at_once];
    float scale[ChannelLanes::most_rows], shift[ChannelLanes::most_rows];
    std::int64_t samples[ChannelLanes::most_rows];
    std::int32_t positions[ChannelLanes::most_rows];
  };
  static constexpr int alignment = 16, scratch_bytes = static_cast<int>(sizeof(Scratch)) + alignment;

  template <class Team>
  KOKKOS_INLINE_FUNCTION NormTeam(Team const& team, NormSetting const& of, Index rows, Index channels, int rows_of_team)
      : setting(of),
        lanes{of.warps},
        C(static_cast<int>(channels)),
        begin(team.league_rank() * rows_of_team),
        end(Kokkos::min(static_cast<int>(rows), begin + rows_of_team)),
        scratch(*static_cast<Scratch*>(team.team_scratch(0).get_shmem_aligned(sizeof(Scratch), alignment))) {}

  KOKKOS_INLINE_FUNCTION bool has(int worker) const { return own * worker < C; }
  KOKKOS_INLINE_FUNCTION int channel(int worker) const { return Kokkos::min(own * worker, C - own); }
  KOKKOS_INLINE_FUNCTION bool there(int worker, int r, int i) const { return r + i < end && has(worker); }
  /// Returns the index into scratch of the row `i` after row r.
  KOKKOS_INLINE_FUNCTION int place(int r, int i) const { return Kokkos::min(r + i, end - 1) - begin; }
  /// Calls body(i, place, offset of channel k of the row in a matrix) for each row.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void each_row(int r, int k, Body const& body) const {
    BELLWETHER_UNROLL
    for (int i = 0; i < at_once; ++i) {
      int const at = place(r, i);
      body(i, at, Index{begin + at} * C + k);
    }
  }

  /// Loads the sample numbers and positions of the rows. A barrier has to follow.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void fetch_origins(Team const& team, RowOrigin const& origin) const {
    if (!setting.dropout.active()) return;
    lanes.all(team, [&](int worker, int) {
      if (worker >= end - begin) return;
      scratch.samples[worker] = origin.samples[begin + worker];
      scratch.positions[worker] = origin.positions[begin + worker];
    });
  }

  /// kept <- dropout bits of the rows from r on; all ones if dropout is not active. Eight lanes share 64 channels. Each
  /// of them makes two draws, and a draw yields four channels 16 apart. The first draw starts at the lane's own number,
  /// the second one 8 channels further on.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void draw(Team const& team, int r, Kept& kept) const {
    static_assert(own * 8 == dropout_chunk);
    if (!setting.dropout.active()) {
      lanes.all(team, [&](int, int mine) {
        BELLWETHER_UNROLL
        for (int i = 0; i < at_once; ++i) kept[mine][i] = ~0u;
      });
      return;
    }
    BELLWETHER_UNROLL
    for (int i = 0; i < at_once; ++i) {
      DropoutDraw<float> const draw(setting.dropout, setting.rule, scratch.samples[place(r, i)],
                                    scratch.positions[place(r, i)]);
      lanes.each_warp(team, [&](int warp, int first) {
        using One = bellwether::Lanes<Space>;
        std::uint32_t words[2][4];
        BELLWETHER_UNROLL
        for (int turn = 0; turn < 2; ++turn) {
          Philox4 drawn[One::here];
          One::all(team, [&](int lane, int mine) {
            int const worker = warp * One::count + lane;
            drawn[mine] = draw.bits(static_cast<std::uint32_t>(worker / 8 * 16 + turn * 8 + worker % 8));
          });
          BELLWETHER_UNROLL
          for (int part = 0; part < 4; ++part)
            words[turn][part] =
                ballot(team, [&](int lane) { return drawn[One::mine(lane)].x[part] >= setting.rule.threshold; });
        }
        One::all(team, [&](int lane, int mine) {
          bool const odd = lane % 2 != 0, second = lane / 2 % 2 != 0, upper = lane / 4 % 2 != 0;
          std::uint32_t of_part[4];
          BELLWETHER_UNROLL
          for (int part = 0; part < 4; ++part) of_part[part] = odd ? words[1][part] : words[0][part];
          std::uint32_t const low = second ? of_part[1] : of_part[0], high = second ? of_part[3] : of_part[2];
          kept[first + mine][i] = (upper ? high : low) >> (lane / 8 * 8);
        });
      });
    }
  }
  KOKKOS_INLINE_FUNCTION float factor(std::uint32_t kept, int e) const {
    return (kept >> e & 1u) != 0 ? setting.rule.kept : 0.0f;
  }

  NormSetting const& setting;
  Lanes lanes;
  int C, begin, end;
  Scratch& scratch;
};

/// Returns whether the kernels support rows of C channels.
inline bool lanes_take(Index C) { return C % dropout_chunk == 0 && C <= ChannelLanes::most_channels; }

/// Launches the kernel with `teams` teams.
template <class Space, class Kernel>
void run_lanes(char const* label, Space const& exec, Index teams, Kernel const& kernel) {
  constexpr unsigned threads = ChannelLanes::most_warps * 32, at_least = 4;
  using Policy = std::conditional_t<TeamShape<Space>::on_host, Kokkos::TeamPolicy<Space>,
                                    Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<threads, at_least>>>;
  Policy policy(exec, static_cast<int>(teams), TeamShape<Space>::on_host ? 1 : kernel.setting.warps, 32);
  policy.set_scratch_size(0, Kokkos::PerTeam(NormTeam<Space>::scratch_bytes));
  Kokkos::parallel_for(label, policy, kernel);
}

}  // namespace bellwether::model
