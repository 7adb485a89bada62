// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/monitor/gradient_sketch.hpp"

#include "core/device/launch.hpp"
#include "core/system/error.hpp"
#include "model/optim/formulas.hpp"
#include "model/optim/monitor/gradient_sketch_body.hpp"

namespace bellwether::optim {
namespace {

/// Returns the first tensor with an element that is not finite, to every thread of the team. There must be one.
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

/// Returns the sum of all teams' sums of squares, to every thread of one team.
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
void sketch_gradient(Space const& exec, BlockTable<Space> const& table, SketchedGradient const& gradient,
                     ScalarLayout const& layout, SketchScratch<Space> const& scratch,
                     Vec<float, Space> const& scalars) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  using Strips = SketchStrips<Space>;
  // Without a sketch the kernels are the same, with columns that are not read.
  Index const columns = layout.columns, strips = Strips::count(columns);
  require(columns % sign_group == 0, "sketch columns must be a multiple of the sign group");
  require(static_cast<Index>(scratch.partial.extent(0)) >= sketch_parts * columns &&
              static_cast<Index>(scratch.squares.extent(0)) >= sketch_parts * strips &&
              static_cast<Index>(scalars.extent(0)) == layout.count(),
          "scratch of the gradient sketch is too small");
  float const* const values = gradient.values;
  Index const count = gradient.count;
  require_neighbours<Space>(values, scratch.partial.data());
  Index const groups = (count + sign_group - 1) / sign_group;
  Index const row_groups = Strips::row_groups(columns);
  Index const rows = (groups + row_groups - 1) / row_groups;
  Index const part_rows = (rows + sketch_parts - 1) / sketch_parts;
  float* const parts = scratch.partial.data();
  double* const square = scratch.squares.data();
  float* const out = scalars.data();
  Block const* const blocks = table.blocks().data();
  Index const block_count = table.count();
  gradient_sketch::SketchPass const pass{values, count,        columns,       row_groups, part_rows,
                                         strips, gradient.key, gradient.step, parts,      square};
  launch<"bellwether::optim::sketch_gradient">(
      lanes_policy(exec, sketch_parts * strips),
      KOKKOS_LAMBDA(Team const& team) { pass.template of_team<Space>(team); });
  gradient_sketch::PartSums const sums{parts, columns, layout.count(), out};
  launch<"bellwether::optim::sketch_sums">(
      team_policy(exec, gradient_sketch::PartSums::teams(layout.count())),
      KOKKOS_LAMBDA(Team const& team) { sums.of_team<Space>(team); });
  Index const norm_at = layout.norm(gradient.rank), bad_at = layout.bad(gradient.rank);
  launch<"bellwether::optim::sketch_norm">(
      team_policy(exec, 1), KOKKOS_LAMBDA(Team const& team) {
        double const sum = sum_of_squares<Space>(team, sketch_parts * strips, square);
        Index const bad =
            Kokkos::isfinite(sum) ? -1 : first_bad_tensor<Space>(team, blocks, block_count, count, values);
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          out[norm_at] = static_cast<float>(Kokkos::sqrt(sum));
          if (!Kokkos::isfinite(sum)) out[bad_at] = static_cast<float>(bad + 1);
        });
      });
}

template <class Space>
void check_scalars(Space const& exec, ScalarLayout const& layout, NormUse const& use, Vec<float, Space> const& scalars,
                   Vec<float, Space> const& proportion, Vec<GradientCheck, Space> const& gradient_check) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  float const* const mean = scalars.data();
  float* const share = proportion.data();
  GradientCheck* const out = gradient_check.data();
  ScalarLayout const at = layout;
  double const clip = use.clip;
  NormLimit const limit = use.limit;
  launch<"bellwether::optim::check_scalars">(
      team_policy(exec, 1), KOKKOS_LAMBDA(Team const& team) {
        // A sum of squares of floats is finite in double exactly if all of them are.
        auto const sums = team_sum<2, Space>(team, 0, at.count(), [=](Index c) {
          double const value = mean[c];
          return Sums<2>{{c < at.columns ? value * value : 0, value * value}};
        });
        double const sketch = sums.value[0];
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          GradientCheck result;
          double squares = 0;
          for (int rank = 0; rank < at.ranks; ++rank) {
            // The mean of one rank's number and zeros, times P, is exact to half a unit, so a tensor's index is exact.
            double const norm = static_cast<double>(mean[at.columns + rank]) * at.ranks;
            double const bad = Kokkos::round(static_cast<double>(mean[at.columns + at.ranks + rank]) * at.ranks);
            squares += norm * norm;
            if (bad > 0 && !result.skip) {
              result.skip = 1;
              result.bad_rank = rank;
              result.bad_tensor = static_cast<Index>(bad) - 1;
            }
          }
          // A sum of large finite gradients may overflow. Then there is no element or rank to blame.
          if (!Kokkos::isfinite(sums.value[1])) result.skip = 1;
          bool const sketched = at.columns > 0 && at.ranks > 1;
          double const local_square = squares / at.ranks;
          result.norm = Kokkos::sqrt(sketched ? sketch : local_square * static_cast<double>(*share));
          if (!result.skip) limit.apply(result, mean + at.norm(0), at.ranks);
          if (!result.skip) {
            if (sketched && local_square > 0) *share = static_cast<float>(sketch / local_square);
            result.local_square = local_square;
            // Without a sketch the mean gradient of several ranks is not known.
            if (sketched || at.ranks == 1) result.mean_square = result.norm * result.norm;
          }
          result.clip_factor = result.skip ? 1 : clip_factor(result.norm, clip);
          *out = result;
        });
      });
}

#define BELLWETHER_INSTANTIATE(Space)                                                                               \
  template void sketch_gradient<Space>(Space const&, BlockTable<Space> const&, SketchedGradient const&,             \
                                       ScalarLayout const&, SketchScratch<Space> const&, Vec<float, Space> const&); \
  template void check_scalars<Space>(Space const&, ScalarLayout const&, NormUse const&, Vec<float, Space> const&,   \
                                     Vec<float, Space> const&, Vec<GradientCheck, Space> const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
