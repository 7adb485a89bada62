// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/monitor/gradient_check.hpp"

#include "core/device/launch.hpp"
#include "core/device/team_sum.hpp"
#include "core/system/error.hpp"
#include "model/optim/formulas.hpp"

#include <algorithm>
#include <vector>

namespace bellwether::optim {
namespace {

/// Returns the first tensor with a block whose sum of squares is not finite. There must be one.
KOKKOS_INLINE_FUNCTION Index first_bad_tensor(Block const* blocks, double const* squares) {
  Index bad = 0;
  while (Kokkos::isfinite(squares[bad])) ++bad;
  return blocks[bad].tensor;
}

}  // namespace

template <class Space>
void square_blocks(Space const& exec, BlockTable<Space> const& table, BlockRange range, float const* gradient,
                   Vec<double, Space> const& partial) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  require(0 <= range.first && range.first <= range.last && range.last <= table.count(),
          "range of blocks is not in the table");
  require(static_cast<Index>(partial.extent(0)) >= table.count(), "scratch of the gradient check is too small");
  Block const* const blocks = table.blocks().data() + range.first;
  double* const squares = partial.data() + range.first;
  launch<"bellwether::optim::gradient_squares">(
      team_policy(exec, range.last - range.first), KOKKOS_LAMBDA(Team const& team) {
        Block const block = blocks[team.league_rank()];
        auto const sum = team_sum<1, Space>(
            team, block.first, block.first + block.count, [=](Index k) { return gradient[k]; },
            [=](Index, float value) {
              double const g = value;
              return Sums<1>{{g * g}};
            });
        Kokkos::single(Kokkos::PerTeam(team), [&] { squares[team.league_rank()] = sum.value[0]; });
      });
}

template <class Space>
void place_norm(Space const& exec, BlockTable<Space> const& table, int rank, Vec<double, Space> const& partial,
                Vec<float, Space> const& norms) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const count = table.count(), ranks = static_cast<Index>(norms.extent(0));
  require(rank >= 0 && rank < ranks, "rank has no place among the norms");
  Block const* const blocks = table.blocks().data();
  double const* const squares = partial.data();
  float* const out = norms.data();
  launch<"bellwether::optim::place_norm">(
      team_policy(exec, 1), KOKKOS_LAMBDA(Team const& team) {
        auto const sum = team_sum<1, Space>(team, 0, count, [=](Index block) { return Sums<1>{{squares[block]}}; });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          for (Index r = 0; r < ranks; ++r) out[r] = 0;
          out[rank] = Kokkos::isfinite(sum.value[0]) ? static_cast<float>(Kokkos::sqrt(sum.value[0]))
                                                     : -static_cast<float>(first_bad_tensor(blocks, squares) + 1);
        });
      });
}

template <class Space>
void check_gradient(Space const& exec, BlockTable<Space> const& table, MeanGradient<Space> const& gradient,
                    NormUse const& use, Vec<double, Space> const& partial,
                    Vec<GradientCheck, Space> const& gradient_check) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const count = table.count(), ranks = static_cast<Index>(gradient.local_norms.extent(0));
  require(gradient_check.extent(0) == 1, "one gradient check");
  Block const* const blocks = table.blocks().data();
  float const* const norms = gradient.local_norms.data();
  double const clip = use.clip;
  NormLimit const limit = use.limit;
  GradientCheck* const out = gradient_check.data();
  square_blocks(exec, table, {0, table.count()}, gradient.values, partial);
  double const* const squares = partial.data();
  launch<"bellwether::optim::check_gradient">(
      team_policy(exec, 1), KOKKOS_LAMBDA(Team const& team) {
        auto const sum = team_sum<1, Space>(team, 0, count, [=](Index block) { return Sums<1>{{squares[block]}}; });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          GradientCheck result;
          result.norm = Kokkos::sqrt(sum.value[0]);
          result.skip = !Kokkos::isfinite(result.norm);
          if (result.skip) {
            result.bad_tensor = first_bad_tensor(blocks, squares);
            if (ranks == 0) result.bad_rank = 0;
            for (Index r = ranks - 1; r >= 0; --r) {
              if (!(norms[r] < 0)) continue;
              // The mean of one rank's number and zeros, times P, is exact to half a unit.
              result.bad_rank = r;
              result.bad_tensor = static_cast<Index>(Kokkos::round(-static_cast<double>(norms[r]) * ranks)) - 1;
            }
          } else {
            limit.apply(result, norms, ranks);
          }
          if (!result.skip) {
            result.clip_factor = clip_factor(result.norm, clip);
            result.mean_square = sum.value[0];
            double local = 0;
            for (Index r = 0; r < ranks; ++r) {
              double const norm = static_cast<double>(norms[r]) * static_cast<double>(ranks);
              local += norm * norm;
            }
            if (ranks > 0) result.local_square = local / static_cast<double>(ranks);
          }
          *out = result;
        });
      });
}

template <class Space>
Index largest_tensor(Space const& exec, ParameterLayout const& layout, float const* gradient) {
  BlockTable<Space> const table(layout);
  Vec<double, Space> const partial("bellwether::optim::gradient_squares", static_cast<std::size_t>(table.count()));
  square_blocks(exec, table, {0, table.count()}, gradient, partial);
  auto const squares = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), partial);
  std::vector<double> sums(layout.tensors().size());
  auto const blocks = cut_into_blocks(layout);
  for (std::size_t b = 0; b < blocks.size(); ++b) sums[static_cast<std::size_t>(blocks[b].tensor)] += squares(b);
  return std::ranges::max_element(sums) - sums.begin();
}

PartNorm::PartNorm(ParameterLayout const& layout)
    : blocks_(layout),
      partial_("bellwether::optim::part_squares", static_cast<std::size_t>(blocks_.count())),
      norm_("bellwether::optim::part_norm", 1),
      host_(host_copy_of(norm_)) {}

void PartNorm::measure(Exec const& exec, Arena<> const& gradients) {
  square_blocks(exec, blocks_, {0, blocks_.count()}, gradients.data(), partial_);
  place_norm(exec, blocks_, 0, partial_, norm_);
  Kokkos::deep_copy(exec, host_, norm_);
}

std::int64_t PartNorm::bytes() const {
  return blocks_.bytes() + static_cast<std::int64_t>(partial_.extent(0) * sizeof(double) + sizeof(float));
}

#define BELLWETHER_INSTANTIATE(Space)                                                                               \
  template void check_gradient<Space>(Space const&, BlockTable<Space> const&, MeanGradient<Space> const&,           \
                                      NormUse const&, Vec<double, Space> const&, Vec<GradientCheck, Space> const&); \
  template Index largest_tensor<Space>(Space const&, ParameterLayout const&, float const*);                         \
  template void square_blocks<Space>(Space const&, BlockTable<Space> const&, BlockRange, float const*,              \
                                     Vec<double, Space> const&);                                                    \
  template void place_norm<Space>(Space const&, BlockTable<Space> const&, int, Vec<double, Space> const&,           \
                                  Vec<float, Space> const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
