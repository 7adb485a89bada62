// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/signs.hpp"
#include "core/random/philox_lanes.hpp"
#include "core/simd/column_sum.hpp"
#include "core/simd/lanes.hpp"
#include "model/optim/strategies/one_bit/variance_growth.hpp"

/// Bodies of the kernels of sketch_tensors().
namespace bellwether::optim::tensor_sketch {

inline constexpr int lanes = growth_columns;
inline constexpr Index sign_group = 4 * lanes;  // elements for each draw of signs

/// Returns the Philox counter of a group of elements, or of a vector of groups. tensor: offset of the tensor.
template <class Number>
KOKKOS_INLINE_FUNCTION WideCounter<Number> tensor_counter(std::int64_t step, Index tensor, Number group) {
  return {{Number{} + static_cast<std::uint64_t>(tensor), group + 0x80000000u,
           Number{} + static_cast<std::uint64_t>(step), Number{} + (static_cast<std::uint64_t>(step) >> 32)}};
}

KOKKOS_INLINE_FUNCTION std::uint32_t active_bits(std::uint32_t const* active, Index first, int count) {
  return active == nullptr ? ~0u : comm::bits_from(active, first, count);
}

/// A block of elements and its offset in its tensor, which determines the random signs.
struct TensorSketch {
  Block const* blocks;
  Index const* first_block;
  float const* gradient;
  std::uint32_t const* active;
  RandomKey key;
  std::int64_t step;

  static_assert(reduce_block % sign_group == 0, "a block begins with a draw of signs");
  KOKKOS_INLINE_FUNCTION static Index groups(Block const& block) { return (block.count + sign_group - 1) / sign_group; }
  KOKKOS_INLINE_FUNCTION Index tensor(Block const& block) const { return blocks[first_block[block.tensor]].first; }
  KOKKOS_INLINE_FUNCTION Index groups_before(Block const& block) const {
    return (block.first - tensor(block)) / sign_group;
  }
  KOKKOS_INLINE_FUNCTION Philox4 signs(Block const& block, Index group) const {
    return philox(tensor_counter(step, tensor(block), static_cast<std::uint64_t>(groups_before(block) + group)), key);
  }
};

/// For hosts: handles the columns of a block side by side, and the elements of a column in order.
struct SketchByLanes {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    Block const block = of.blocks[team.league_rank()];
    Index const tensor = of.tensor(block), before = of.groups_before(block), groups = TensorSketch::groups(block);
    float sums[lanes] = {};
    auto const counter_of = [&](auto group) { return tensor_counter(of.step, tensor, group); };
    each_draw(of.key, before, before + groups, counter_of, [&](Index group, Philox4 const& signs) {
      for (int word = 0; word < 4; ++word) {
        Index const begin = (group - before) * sign_group + word * lanes;
        int const here = static_cast<int>(Kokkos::min<Index>(lanes, block.count - begin));
        if (here <= 0) break;
        std::uint32_t const alive = active_bits(of.active, block.first + begin, here);
        float const* const g = of.gradient + block.first + begin;
        BELLWETHER_INDEPENDENT
        for (int lane = 0; lane < here; ++lane)
          sums[lane] += comm::masked(comm::with_sign(g[lane], signs.x[word], lane), alive, lane);
      }
    });
    float* const out = parts + Index{team.league_rank()} * lanes;
    for (int lane = 0; lane < lanes; ++lane) out[lane] = sums[lane];
  }

  TensorSketch of;
  float* parts;
};

/// For devices: the threads of a team take groups of elements in turn, and each of their lanes has a column. The sums
/// of a column are added in the order of the threads.
template <class Space>
struct SketchByTeams {
  using L = Lanes<Space>;
  static constexpr int words = 4, rows = L::count / words;  // groups that the lanes of a thread load signs for at once
  static_assert(L::count == lanes);

  static Kokkos::TeamPolicy<Space> policy(Space const& exec, Index blocks) {
    auto policy = lanes_policy(exec, blocks);
    policy.set_scratch_size(0, Kokkos::PerTeam(policy.team_size() * lanes * static_cast<int>(sizeof(float))));
    return policy;
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    Block const block = of.blocks[team.league_rank()];
    int const threads = team.team_size();
    auto* const staged = static_cast<float*>(team.team_scratch(0).get_shmem(threads * lanes * sizeof(float)));
    float* const out = parts + Index{team.league_rank()} * lanes;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, threads), [&](int const thread) {
      float sums[L::here] = {};
      for (Index group = thread; group < TensorSketch::groups(block); group += rows * threads)
        add(team, block, group, threads, sums);
      L::all(team, [&](int const lane, int const mine) { staged[thread * lanes + lane] = sums[mine]; });
    });
    team.team_barrier();
    int const columns = lanes;  // a copy: lambdas take it by reference
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, columns), [&](int const lane) {
      float sum = 0;
      for (int thread = 0; thread < threads; ++thread) sum += staged[thread * lanes + lane];
      out[lane] = sum;
    });
  }

  /// Adds `rows` groups from `group` on, `apart` from each other. Each lane draws the signs of one group, finds the
  /// active elements of one word, and shares them. Otherwise every lane would do so for all groups.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void add(Team const& team, Block const& block, Index group, int apart,
                                  float (&sums)[L::here]) const {
    std::uint32_t drawn[words][L::here], alive[L::here];
    L::all(team, [&](int const lane, int const mine) {
      Philox4 const signs = of.signs(block, group + lane % rows * apart);
      BELLWETHER_UNROLL
      for (int word = 0; word < words; ++word) drawn[word][mine] = signs.x[word];
      Index const begin = (group + lane / words * apart) * sign_group + lane % words * lanes;
      int const here = static_cast<int>(Kokkos::min<Index>(lanes, block.count - begin));
      alive[mine] = here > 0 ? active_bits(of.active, block.first + begin, here) : 0u;
    });
    constexpr int ahead = 2;  // groups that are loaded together
    static_assert(rows % ahead == 0);
    for (int row = 0; row < rows && group + row * apart < TensorSketch::groups(block); row += ahead) {
      float read[ahead][words][L::here];
      L::all(team, [&](int const lane, int const mine) {
        BELLWETHER_UNROLL
        for (int i = 0; i < ahead; ++i) {
          Index const k = (group + (row + i) * apart) * sign_group + lane;
          BELLWETHER_UNROLL
          for (int word = 0; word < words; ++word) {
            Index const at = k + word * lanes;
            read[i][word][mine] = at < block.count ? of.gradient[block.first + at] : 0.0f;
          }
        }
      });
      BELLWETHER_UNROLL
      for (int i = 0; i < ahead; ++i) {
        BELLWETHER_UNROLL
        for (int word = 0; word < words; ++word) {
          std::uint32_t const signs = word_of_lane<Space>(team, drawn[word], row + i);
          std::uint32_t const active = word_of_lane<Space>(team, alive, (row + i) * words + word);
          L::all(team, [&](int const lane, int const mine) {
            sums[mine] += comm::masked(comm::with_sign(read[i][word][mine], signs, lane), active, lane);
          });
        }
      }
    }
  }

  TensorSketch of;
  float* parts;
};

/// Adds the sketches of a tensor's blocks. A work item handles one column of one tensor.
struct AddSketches {
  KOKKOS_INLINE_FUNCTION void operator()(Index c) const {
    Index const tensor = c / lanes, lane = c % lanes;
    float sum = 0;
    for (Index b = first_block[tensor]; b < first_block[tensor + 1]; ++b) sum += parts[b * lanes + lane];
    sketches[c] = sum;
  }

  Index const* first_block;
  float const* parts;
  float* sketches;
};

/// Like AddSketches, with a team for each tensor, because the largest tensors have thousands of blocks.
template <class Space>
struct AddSketchesByTeams {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    using Columns = ColumnTeam<Space>;
    Index const tensor = team.league_rank(), first = first_block[tensor];
    Columns::sum(
        team, first_block[tensor + 1] - first, lanes, Columns::template staged<float>(team),
        [&](Index block, int lane) { return parts[(first + block) * lanes + lane]; },
        [&](int lane, float sum) { sketches[tensor * lanes + lane] = sum; });
  }

  Index const* first_block;
  float const* parts;
  float* sketches;
};

}  // namespace bellwether::optim::tensor_sketch
