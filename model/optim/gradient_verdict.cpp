// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/gradient_verdict.hpp"

#include "core/error.hpp"
#include "core/team_sum.hpp"
#include "model/optim/formulas.hpp"

namespace bellwether::optim {

template <class Space>
void judge_gradient(Space const& exec, BlockTable<Space> const& table, float const* gradient, double clip,
                    Vec<double, Space> const& partial, Vec<Verdict, Space> const& verdict) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const count = table.count();
  require(static_cast<Index>(partial.extent(0)) >= count && verdict.extent(0) == 1, "scratch of the verdict too small");
  // Kokkos takes labels as std::string: made once, because a step allocates nothing.
  static std::string const square_label = "bellwether::optim::gradient_squares";
  static std::string const verdict_label = "bellwether::optim::gradient_verdict";
  Block const* const blocks = table.blocks().data();
  double* const squares = partial.data();
  Verdict* const out = verdict.data();
  Kokkos::parallel_for(
      square_label, team_policy(exec, count), KOKKOS_LAMBDA(Team const& team) {
        Block const block = blocks[team.league_rank()];
        auto const sum = team_sum<1, Space>(team, block.first, block.first + block.count, [=](Index k) {
          double const g = gradient[k];
          return Sums<1>{{g * g}};
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] { squares[team.league_rank()] = sum.value[0]; });
      });
  Kokkos::parallel_for(
      verdict_label, team_policy(exec, 1), KOKKOS_LAMBDA(Team const& team) {
        auto const sum = team_sum<1, Space>(team, 0, count, [=](Index block) { return Sums<1>{{squares[block]}}; });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          Verdict result;
          result.norm = Kokkos::sqrt(sum.value[0]);
          result.skip = !Kokkos::isfinite(result.norm);
          if (result.skip) {
            Index bad = 0;
            while (Kokkos::isfinite(squares[bad])) ++bad;
            result.bad_tensor = blocks[bad].tensor;
          } else {
            result.clip_factor = clip_factor(result.norm, clip);
          }
          *out = result;
        });
      });
}

#define BELLWETHER_INSTANTIATE(Space)                                                               \
  template void judge_gradient<Space>(Space const&, BlockTable<Space> const&, float const*, double, \
                                      Vec<double, Space> const&, Vec<Verdict, Space> const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
