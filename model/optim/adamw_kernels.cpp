// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/adamw_kernels.hpp"

#include "core/team_sum.hpp"
#include "model/optim/formulas.hpp"

namespace bellwether::optim {

template <class Space>
void adamw_update(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                  Coefficients<float> const& coefficients, double learning_rate, Vec<Verdict, Space> const& verdict,
                  float const* gradient, float* parameters, float* momentum, float* variance) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  // Kokkos takes labels as std::string: made once, because a step allocates nothing.
  static std::string const label = "bellwether::optim::adamw_update";
  Block const* const blocks = table.blocks().data();
  TensorRule const* const rule = rules.data();
  Verdict const* const judged = verdict.data();
  Coefficients<float> const c = coefficients;
  float const rate = static_cast<float>(learning_rate);
  Kokkos::parallel_for(
      label, team_policy(exec, table.count()), KOKKOS_LAMBDA(Team const& team) {
        if (judged->skip) return;
        Block const block = blocks[team.league_rank()];
        float const decay = rule[block.tensor].decay;
        float const clip = static_cast<float>(judged->clip_factor);
        team_for<Space>(
            team, block.first, block.first + block.count,
            [=](Index k) {
              return OptimizerElement{gradient[k], momentum[k], variance[k], parameters[k]};
            },
            [=](Index k, OptimizerElement const& at) {
              float const g = clip * at.gradient;
              float const m = next_momentum(c, at.momentum, g);
              float const v = next_variance(c, at.variance, g);
              momentum[k] = m;
              variance[k] = v;
              parameters[k] = at.parameter - rate * direction(c, m, v, at.parameter, decay);
            });
      });
}

#define BELLWETHER_INSTANTIATE(Space)                                                                             \
  template void adamw_update<Space>(Space const&, BlockTable<Space> const&, Vec<TensorRule, Space> const&,        \
                                    Coefficients<float> const&, double, Vec<Verdict, Space> const&, float const*, \
                                    float*, float*, float*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
