// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/lane_words.hpp"
#include "core/simd/lane_sums.hpp"
#include "model/optim/monitor/gradient_sketch.hpp"

/// Bodies of the kernels of sketch_gradient().
namespace bellwether::optim::gradient_sketch {

/// Words in a draw of signs, and elements for each word.
inline constexpr int sign_words = 4;
inline constexpr Index sign_lanes = sign_group / sign_words;

/// One team's part of the sketch: one of the sketch_parts ranges of groups. On a host a team has all columns, on a
/// device one strip of them.
struct SketchPass {
  float const* gradient;
  Index count, columns, row_groups, part_rows, strips;
  RandomKey key;
  std::int64_t step;
  float* parts;    // (sketch_parts, columns)
  double* square;  // (sketch_parts, strips)

  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION void of_team(Team const& team) const {
    Index const part = team.league_rank() / strips, groups = (count + sign_group - 1) / sign_group;
    float* const sketch = parts + part * columns;
    Index const first = Kokkos::min(groups, part * part_rows * row_groups);
    Index const last = Kokkos::min(groups, (part + 1) * part_rows * row_groups);
    double sum = 0;
    if constexpr (TeamShape<Space>::host)
      sum = whole(first, last, sketch);
    else
      sum = strip<Space>(team, first, last, team.league_rank() % strips, sketch);
    Kokkos::single(Kokkos::PerTeam(team), [&] { square[team.league_rank()] = sum; });
  }

  /// Sketches groups [first, last) into sketch (columns). Returns the sum of their squares. Processes several rows at a
  /// time, so that the columns they share stay in the L1 cache.
  KOKKOS_INLINE_FUNCTION double whole(Index first, Index last, float* sketch) const {
    constexpr Index together = 4;
    static_assert(sign_lanes == LaneSums::lanes);
    SketchPass const p = *this;
    for (Index c = 0; c < p.columns; ++c) sketch[c] = 0;
    LaneSums sums;
    for (Index row = first; row < last; row += together * p.row_groups) {
      auto const group_of = [&](auto i) { return row + i % together * p.row_groups + i / together; };
      auto const counter_of = [&](auto i) { return sketch_counter(p.step, group_of(i)); };
      each_draw(p.key, 0, together * p.row_groups, counter_of, [&](Index i, Philox4 const& signs) {
        Index const group = group_of(i);
        if (group >= last) return;
        float* const to = sketch + i / together * sign_group;
        auto const add = [&](float const* g, int word) {
          sums.add(g);
          if (p.columns == 0) return;
          BELLWETHER_INDEPENDENT
          for (int lane = 0; lane < sign_lanes; ++lane)
            to[sign_lanes * word + lane] += comm::with_sign(g[lane], signs.x[word], lane);
        };
        Index const begin = group * sign_group;
        if (begin + sign_group <= p.count) {
          for (int word = 0; word < sign_words; ++word) add(p.gradient + begin + sign_lanes * word, word);
          return;
        }
        float rest[sign_group] = {};
        for (Index k = begin; k < p.count; ++k) rest[k - begin] = p.gradient[k];
        for (int word = 0; word < sign_words; ++word) add(rest + sign_lanes * word, word);
      });
    }
    return sums.squares();
  }

  /// Sketches one strip of columns. A thread of the team processes all groups that share its columns, which are
  /// row_groups apart, in order. Each of its lanes has four adjacent columns.
  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION double strip(Team const& team, Index first, Index last, Index at, float* sketch) const {
    using L = Lanes<Space>;
    constexpr int own = comm::LaneShare::elements;
    static_assert(L::count * own == sign_group && comm::LaneShare::words == sign_words);
    constexpr Index most = SketchStrips<Space>::groups;  // a copy: lambdas take it by reference
    Index const begin = at * most;
    int const here = static_cast<int>(Kokkos::min(row_groups - begin, most));
    double squares = 0;  // sum of this thread's lanes (host) or of this lane (device)
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, here), [&](int const of_strip) {
      float sums[L::here][own] = {};
      for (Index group = first + begin + of_strip; group < last; group += L::count * row_groups)
        add_rows<Space>(team, group, last, sums, squares);
      if (columns > 0)
        L::all(team, [&](int const lane, int const mine) {
          store(sketch + (begin + of_strip) * sign_group + own * lane, sums[mine]);
        });
    });
    return of_all_lanes<Space>(team, squares);
  }

  /// Adds up to one group for each lane: from `group` on, row_groups apart and before `last`. Each lane draws the signs
  /// of one group and shares them, since otherwise every lane would draw the signs of all groups.
  template <class Space, class Team, int here, int own>
  KOKKOS_INLINE_FUNCTION void add_rows(Team const& team, Index group, Index last, float (&sums)[here][own],
                                       double& squares) const {
    using L = Lanes<Space>;
    constexpr int ahead = loads_ahead;  // groups that are loaded together
    std::uint32_t drawn[sign_words][here];
    L::all(team, [&](int const lane, int const mine) {
      Philox4 const signs = sketch_signs(key, step, group + lane * row_groups);
      BELLWETHER_UNROLL
      for (int word = 0; word < sign_words; ++word) drawn[word][mine] = signs.x[word];
    });
    int const rows = static_cast<int>(Kokkos::min<Index>(L::count, (last - group + row_groups - 1) / row_groups));
    for (int row = 0; row < rows; row += ahead) {
      float read[ahead][here][own];
      L::all(team, [&](int const lane, int const mine) {
        BELLWETHER_UNROLL
        for (int i = 0; i < ahead; ++i) {
          Index const k = (group + (row + i) * row_groups) * sign_group + own * lane;
          load_before(row + i < rows ? count : 0, 0.0f, gradient, k, read[i][mine]);
        }
      });
      BELLWETHER_UNROLL
      for (int i = 0; i < ahead; ++i) {
        if (row + i >= rows) break;
        std::uint32_t words[sign_words];
        BELLWETHER_UNROLL
        for (int word = 0; word < sign_words; ++word) words[word] = word_of_lane<Space>(team, drawn[word], row + i);
        L::all(team, [&](int const lane, int const mine) {
          comm::LaneShare const share(lane);
          std::uint32_t const low = share.word % 2 == 0 ? words[0] : words[1];
          std::uint32_t const high = share.word % 2 == 0 ? words[2] : words[3];
          std::uint32_t const signs = (share.word < 2 ? low : high) << share.first;
          BELLWETHER_UNROLL
          for (int e = 0; e < own; ++e) {
            float const g = read[i][mine][e];
            sums[mine][e] += comm::with_sign(g, signs, e);
            squares += static_cast<double>(g) * g;
          }
        });
      }
    }
  }
};

/// Adds the partial sketches, a strip of columns for each team. Sets the numbers after the columns to 0.
struct PartSums {
  static constexpr Index width = 256;

  static Index teams(Index count) { return (count + width - 1) / width; }
  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION void of_team(Team const& team) const {
    Index const first = Index{team.league_rank()} * width;
    Index const here = Kokkos::min(Index{width}, count - first);
    Index const sketched = Kokkos::min(here, Kokkos::max(Index{0}, columns - first));
    float const* const from = parts + first;
    float* const to = out + first;
    if constexpr (TeamShape<Space>::host) {
      // Loop over parts outside: the parts of one column are far apart in memory, so each would be a cache miss.
      for (Index c = 0; c < here; ++c) to[c] = 0;
      for (Index part = 0; part < sketch_parts; ++part) {
        BELLWETHER_INDEPENDENT
        for (Index c = 0; c < sketched; ++c) to[c] += from[part * columns + c];
      }
    } else {
      team_for<Space>(team, 0, here, [=, *this](Index c) {
        float sum = 0;
        if (c < sketched)
          for (Index part = 0; part < sketch_parts; ++part) sum += from[part * columns + c];
        to[c] = sum;
      });
    }
  }

  float const* parts;  // (sketch_parts, columns)
  Index columns, count;
  float* out;  // (count)
};

}  // namespace bellwether::optim::gradient_sketch
