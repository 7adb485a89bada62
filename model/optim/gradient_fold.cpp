// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/gradient_fold.hpp"

#include "comm/signs.hpp"
#include "core/error.hpp"
#include "core/lane_sums.hpp"
#include "model/optim/formulas.hpp"

namespace bellwether::optim {
namespace {

/// Elements that a sign's words have: a thread's lane is the same in all four.
constexpr Index sign_words = 4, sign_lanes = sign_group / sign_words;

/// First tensor with an element that is not finite, to every thread of the team; only called where there is one.
template <class Space, class Team>
KOKKOS_INLINE_FUNCTION Index first_bad_tensor(Team const& team, Block const* blocks, Index block_count, Index count,
                                              float const* gradient) {
  Index first = team.team_rank();
  while (first < count && Kokkos::isfinite(gradient[first])) first += TeamShape<Space>::threads;
  team.team_reduce(Kokkos::Min<Index>(first));
  for (Index b = 0; b < block_count; ++b)
    if (first >= blocks[b].first && first < blocks[b].first + blocks[b].count) return blocks[b].tensor;
  return -1;
}

/// A team's share of the fold: of one part of the groups of elements, all on a host, one strip of columns on a device.
struct FoldPass {
  float const* gradient;
  Index count, columns, row_groups, part_rows, strips;
  RandomKey key;
  std::int64_t step;
  float* parts;    // (fold_parts, columns)
  double* square;  // (fold_parts, strips)

  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION void of_team(Team const& team) const {
    Index const part = team.league_rank() / strips, groups = (count + sign_group - 1) / sign_group;
    float* const fold = parts + part * columns;
    Index const first = Kokkos::min(groups, part * part_rows * row_groups);
    Index const last = Kokkos::min(groups, (part + 1) * part_rows * row_groups);
    double sum = 0;
    if constexpr (TeamShape<Space>::host)
      sum = whole(first, last, fold);
    else
      sum = strip<Space>(team, first, last, team.league_rank() % strips, fold);
    Kokkos::single(Kokkos::PerTeam(team), [&] { square[team.league_rank()] = sum; });
  }

  /// Folds groups [first, last) into fold (columns); returns the sum of their squares. Several rows at a time, which
  /// meet in columns that are still in the nearest cache.
  KOKKOS_INLINE_FUNCTION double whole(Index first, Index last, float* fold) const {
    constexpr Index together = 4;
    static_assert(sign_lanes == LaneSums::lanes);
    FoldPass const p = *this;
    for (Index c = 0; c < p.columns; ++c) fold[c] = 0;
    LaneSums sums;
    for (Index row = first; row < last; row += together * p.row_groups) {
      auto const group_of = [&](auto i) { return row + i % together * p.row_groups + i / together; };
      auto const counter_of = [&](auto i) { return fold_counter(p.step, group_of(i)); };
      each_draw(p.key, 0, together * p.row_groups, counter_of, [&](Index i, Philox4 const& signs) {
        Index const group = group_of(i);
        if (group >= last) return;
        float* const to = fold + i / together * sign_group;
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

  /// The same for one strip of columns. A thread takes its lane of the four words of a group, so that a draw of signs
  /// serves four elements, and of all groups that meet in these columns, which are row_groups apart, in their order.
  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION double strip(Team const& team, Index first, Index last, Index at, float* fold) const {
    Index const begin = at * FoldStrips<Space>::groups * sign_lanes;
    Index const end = Kokkos::min(row_groups, (at + 1) * FoldStrips<Space>::groups) * sign_lanes;
    double squares = 0;
    for (Index place = begin + team.team_rank(); place < end; place += TeamShape<Space>::threads) {
      Index const row_group = place / sign_lanes;
      int const lane = static_cast<int>(place % sign_lanes);
      float sums[sign_words] = {};
      constexpr int ahead = 2;  // groups that are read together
      for (Index group = first + row_group; group < last; group += ahead * row_groups) {
        float read[ahead][sign_words];
        BELLWETHER_UNROLL
        for (int i = 0; i < ahead; ++i) {
          Index const its = group + i * row_groups;
          BELLWETHER_UNROLL
          for (int word = 0; word < sign_words; ++word) {
            Index const k = its * sign_group + sign_lanes * word + lane;
            read[i][word] = its < last && k < count ? gradient[k] : 0.0f;
          }
        }
        BELLWETHER_UNROLL
        for (int i = 0; i < ahead; ++i) {
          if (group + i * row_groups >= last) break;
          Philox4 const signs = fold_signs(key, step, group + i * row_groups);
          BELLWETHER_UNROLL
          for (int word = 0; word < sign_words; ++word) {
            float const g = read[i][word];
            sums[word] += comm::with_sign(g, signs.x[word], lane);
            squares += static_cast<double>(g) * g;
          }
        }
      }
      if (columns > 0)
        for (int word = 0; word < sign_words; ++word)
          fold[row_group * sign_group + sign_lanes * word + lane] = sums[word];
    }
    team.team_reduce(Kokkos::Sum<double>(squares));
    return squares;
  }
};

/// The fold from its parts, a strip of columns a team; 0 for the numbers behind the columns.
struct PartSums {
  static constexpr Index width = 256;

  static Index teams(Index count) { return (count + width - 1) / width; }
  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION void of_team(Team const& team) const {
    Index const first = Index{team.league_rank()} * width;
    Index const here = Kokkos::min(Index{width}, count - first);
    Index const folded = Kokkos::min(here, Kokkos::max(Index{0}, columns - first));
    float const* const from = parts + first;
    float* const to = out + first;
    if constexpr (TeamShape<Space>::host) {
      // Parts in turn, columns side by side: parts are so far apart that a column by itself finds no two in a cache.
      for (Index c = 0; c < here; ++c) to[c] = 0;
      for (Index part = 0; part < fold_parts; ++part) {
        BELLWETHER_INDEPENDENT
        for (Index c = 0; c < folded; ++c) to[c] += from[part * columns + c];
      }
    } else {
      team_for<Space>(team, 0, here, [=, *this](Index c) {
        float sum = 0;
        if (c < folded)
          for (Index part = 0; part < fold_parts; ++part) sum += from[part * columns + c];
        to[c] = sum;
      });
    }
  }

  float const* parts;  // (fold_parts, columns)
  Index columns, count;
  float* out;  // (count)
};

/// The sum of what teams left behind, to every thread of one team.
template <class Space, class Team>
KOKKOS_INLINE_FUNCTION double sum_of_squares(Team const& team, Index count, double const* square) {
  if constexpr (TeamShape<Space>::host) {
    double sum = 0;
    for (Index at = 0; at < count; ++at) sum += square[at];
    return sum;
  } else {
    return team_sum<1, Space>(team, 0, count, [=](Index at) { return Sums<1>{{square[at]}}; }).value[0];
  }
}

}  // namespace

template <class Space>
void fold_gradient(Space const& exec, BlockTable<Space> const& table, Index count, float const* gradient,
                   RandomKey const& key, std::int64_t step, ScalarLayout const& layout, int rank,
                   Vec<float, Space> const& partial, Vec<double, Space> const& squares,
                   Vec<float, Space> const& scalars) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  using Strips = FoldStrips<Space>;
  // Without a fold the pass is the same, over columns that nobody reads.
  Index const columns = layout.columns, strips = Strips::count(columns);
  require(columns % sign_group == 0, "columns of the fold in whole groups of signs");
  require(static_cast<Index>(partial.extent(0)) >= fold_parts * columns &&
              static_cast<Index>(squares.extent(0)) >= fold_parts * strips &&
              static_cast<Index>(scalars.extent(0)) == layout.count(),
          "scratch of the fold too small");
  // Kokkos takes labels as std::string: made once, because a step allocates nothing.
  static std::string const fold_label = "bellwether::optim::fold_gradient";
  static std::string const sum_label = "bellwether::optim::fold_sums";
  static std::string const norm_label = "bellwether::optim::fold_norm";
  Index const groups = (count + sign_group - 1) / sign_group;
  Index const row_groups = Strips::row_groups(columns);
  Index const rows = (groups + row_groups - 1) / row_groups;
  Index const part_rows = (rows + fold_parts - 1) / fold_parts;
  float* const parts = partial.data();
  double* const square = squares.data();
  float* const out = scalars.data();
  Block const* const blocks = table.blocks().data();
  Index const block_count = table.count();
  FoldPass const pass{gradient, count, columns, row_groups, part_rows, strips, key, step, parts, square};
  Kokkos::parallel_for(
      fold_label, team_policy(exec, fold_parts * strips),
      KOKKOS_LAMBDA(Team const& team) { pass.template of_team<Space>(team); });
  PartSums const sums{parts, columns, layout.count(), out};
  Kokkos::parallel_for(
      sum_label, team_policy(exec, PartSums::teams(layout.count())),
      KOKKOS_LAMBDA(Team const& team) { sums.of_team<Space>(team); });
  Index const norm_at = layout.norm(rank), bad_at = layout.bad(rank);
  Kokkos::parallel_for(
      norm_label, team_policy(exec, 1), KOKKOS_LAMBDA(Team const& team) {
        double const sum = sum_of_squares<Space>(team, fold_parts * strips, square);
        Index const bad =
            Kokkos::isfinite(sum) ? -1 : first_bad_tensor<Space>(team, blocks, block_count, count, gradient);
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          out[norm_at] = static_cast<float>(Kokkos::sqrt(sum));
          if (!Kokkos::isfinite(sum)) out[bad_at] = static_cast<float>(bad + 1);
        });
      });
}

template <class Space>
void judge_scalars(Space const& exec, ScalarLayout const& layout, double clip, Vec<float, Space> const& scalars,
                   Vec<float, Space> const& proportion, Vec<Verdict, Space> const& verdict, NormLimit const& limit) {
  static std::string const label = "bellwether::optim::judge_scalars";
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  float const* const mean = scalars.data();
  float* const share = proportion.data();
  Verdict* const out = verdict.data();
  ScalarLayout const at = layout;
  Kokkos::parallel_for(
      label, team_policy(exec, 1), KOKKOS_LAMBDA(Team const& team) {
        // A sum of squares of floats is finite in double exactly where all of them are.
        auto const sums = team_sum<2, Space>(team, 0, at.count(), [=](Index c) {
          double const value = mean[c];
          return Sums<2>{{c < at.columns ? value * value : 0, value * value}};
        });
        double const fold = sums.value[0];
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          Verdict result;
          double squares = 0;
          for (int rank = 0; rank < at.ranks; ++rank) {
            // The mean of one rank's number and zeros, back to the number: exact to half a unit for a tensor's index.
            double const norm = static_cast<double>(mean[at.columns + rank]) * at.ranks;
            double const bad = Kokkos::round(static_cast<double>(mean[at.columns + at.ranks + rank]) * at.ranks);
            squares += norm * norm;
            if (bad > 0 && !result.skip) {
              result.skip = 1;
              result.bad_rank = rank;
              result.bad_tensor = static_cast<Index>(bad) - 1;
            }
          }
          // Large gradients may overflow in a sum of theirs, without an element or a rank to blame.
          if (!Kokkos::isfinite(sums.value[1])) result.skip = 1;
          bool const folded = at.columns > 0 && at.ranks > 1;
          double const local_square = squares / at.ranks;
          result.norm = Kokkos::sqrt(folded ? fold : local_square * static_cast<double>(*share));
          if (!result.skip) limit.apply(result, mean + at.norm(0), at.ranks);
          if (!result.skip) {
            if (folded && local_square > 0) *share = static_cast<float>(fold / local_square);
            result.local_square = local_square;
            // Without a fold nobody knows the mean of several gradients.
            if (folded || at.ranks == 1) result.mean_square = result.norm * result.norm;
          }
          result.clip_factor = result.skip ? 1 : clip_factor(result.norm, clip);
          *out = result;
        });
      });
}

#define BELLWETHER_INSTANTIATE(Space)                                                                               \
  template void fold_gradient<Space>(Space const&, BlockTable<Space> const&, Index, float const*, RandomKey const&, \
                                     std::int64_t, ScalarLayout const&, int, Vec<float, Space> const&,              \
                                     Vec<double, Space> const&, Vec<float, Space> const&);                          \
  template void judge_scalars<Space>(Space const&, ScalarLayout const&, double, Vec<float, Space> const&,           \
                                     Vec<float, Space> const&, Vec<Verdict, Space> const&, NormLimit const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
