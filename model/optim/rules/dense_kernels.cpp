// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/dense_kernels.hpp"

#include "core/device/launch.hpp"
#include "core/device/team_sum.hpp"
#include "core/system/error.hpp"

namespace bellwether::optim {
namespace {

/// Inputs of lamb_apply() for one element.
struct StepElement {
  float parameter, update;
};

}  // namespace

template <class Space>
void lamb_moments(Space const& exec, KernelContext<Space> const& context, LambMoments const& arrays,
                  Vec<double, Space> const& norms) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const count = context.table.count();
  require(static_cast<Index>(norms.extent(0)) == 2 * count, "scratch needs two numbers for each block");
  Block const* const blocks = context.table.blocks().data();
  TensorRule const* const rule = context.rules.data();
  GradientCheck const* const checked = context.gradient_check.data();
  double* const squares = norms.data();
  Coefficients<float> const c = arrays.coefficients;
  float const* const parameters = arrays.parameters;
  float *const gradient = arrays.gradient, *const momentum = arrays.momentum, *const variance = arrays.variance;
  launch<"bellwether::optim::lamb_moments">(
      team_policy(exec, count), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Block const block = blocks[team.league_rank()];
        float const decay = rule[block.tensor].decay;
        float const clip = static_cast<float>(checked->clip_factor);
        auto const sum = team_sum<2, Space>(
            team, block.first, block.first + block.count,
            [=](Index k) {
              return OptimizerElement{gradient[k], momentum[k], variance[k], parameters[k]};
            },
            [=](Index k, OptimizerElement const& at) {
              float const g = clip * at.gradient;
              float const m = next_momentum(c, at.momentum, g);
              float const v = next_variance(c, at.variance, g);
              float const x = at.parameter;
              float const u = direction(c, m, v, x, decay);
              momentum[k] = m;
              variance[k] = v;
              gradient[k] = u;
              return Sums<2>{{static_cast<double>(x) * x, static_cast<double>(u) * u}};
            });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          squares[team.league_rank()] = sum.value[0];
          squares[count + team.league_rank()] = sum.value[1];
        });
      });
}

template <class Space>
void lamb_ratios(Space const& exec, KernelContext<Space> const& context, TrustBounds const& bounds,
                 Vec<double, Space> const& norms, LayerRecord const& record) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const count = context.table.count();
  Index const* const first = context.table.first_block().data();
  TensorRule const* const rule = context.rules.data();
  GradientCheck const* const checked = context.gradient_check.data();
  double const* const squares = norms.data();
  TrustBounds const limit = bounds;
  LayerRecord const out = record;
  launch<"bellwether::optim::lamb_ratios">(
      team_policy(exec, context.table.tensors()), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Index const l = team.league_rank();
        auto const sum = team_sum<2, Space>(team, first[l], first[l + 1], [=](Index block) {
          return Sums<2>{{squares[block], squares[count + block]}};
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          double const weight_norm = Kokkos::sqrt(sum.value[0]);
          double const update_norm = Kokkos::sqrt(sum.value[1]);
          double const ratio = rule[l].adapts ? trust_ratio(weight_norm, update_norm, limit.least, limit.most) : 1.0;
          out.trust_ratio[l] = static_cast<float>(ratio);
          out.weight_norm[l] = static_cast<float>(weight_norm);
          out.update_norm[l] = static_cast<float>(update_norm);
        });
      });
}

template <class Space>
void lamb_apply(Space const& exec, KernelContext<Space> const& context, LambStep const& step) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Block const* const blocks = context.table.blocks().data();
  GradientCheck const* const checked = context.gradient_check.data();
  double const learning_rate = step.learning_rate;
  float const *const ratio = step.ratios, *const update = step.update;
  float* const parameters = step.parameters;
  launch<"bellwether::optim::lamb_apply">(
      team_policy(exec, context.table.count()), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Block const block = blocks[team.league_rank()];
        float const rate = static_cast<float>(learning_rate * ratio[block.tensor]);
        team_for<Space>(
            team, block.first, block.first + block.count,
            [=](Index k) {
              return StepElement{parameters[k], update[k]};
            },
            [=](Index k, StepElement const& at) { parameters[k] = at.parameter - rate * at.update; });
      });
}

template <class Space>
void adamw_update(Space const& exec, KernelContext<Space> const& context, AdamWStep const& step) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Block const* const blocks = context.table.blocks().data();
  TensorRule const* const rule = context.rules.data();
  GradientCheck const* const checked = context.gradient_check.data();
  Coefficients<float> const c = step.coefficients;
  float const rate = static_cast<float>(step.learning_rate);
  float const* const gradient = step.gradient;
  float *const parameters = step.parameters, *const momentum = step.momentum, *const variance = step.variance;
  launch<"bellwether::optim::adamw_update">(
      team_policy(exec, context.table.count()), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Block const block = blocks[team.league_rank()];
        float const decay = rule[block.tensor].decay;
        float const clip = static_cast<float>(checked->clip_factor);
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

template <class Space>
void sgd_apply(Space const& exec, KernelContext<Space> const& context, SgdStep const& step) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Block const* const blocks = context.table.blocks().data();
  TensorRule const* const rule = context.rules.data();
  GradientCheck const* const checked = context.gradient_check.data();
  float const rate = static_cast<float>(step.learning_rate), beta1 = step.beta1;
  float const* const gradient = step.gradient;
  float *const parameters = step.parameters, *const momentum = step.momentum;
  launch<"bellwether::optim::sgd_apply">(
      team_policy(exec, context.table.count()), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Block const block = blocks[team.league_rank()];
        float const decay = rule[block.tensor].decay;
        float const clip = static_cast<float>(checked->clip_factor);
        team_for<Space>(team, block.first, block.first + block.count, [=](Index k) {
          float const m = beta1 * momentum[k] + (clip * gradient[k] + decay * parameters[k]);
          momentum[k] = m;
          parameters[k] -= rate * m;
        });
      });
}

#define BELLWETHER_INSTANTIATE(Space)                                                              \
  template void lamb_moments<Space>(Space const&, KernelContext<Space> const&, LambMoments const&, \
                                    Vec<double, Space> const&);                                    \
  template void lamb_ratios<Space>(Space const&, KernelContext<Space> const&, TrustBounds const&,  \
                                   Vec<double, Space> const&, LayerRecord const&);                 \
  template void lamb_apply<Space>(Space const&, KernelContext<Space> const&, LambStep const&);     \
  template void adamw_update<Space>(Space const&, KernelContext<Space> const&, AdamWStep const&);  \
  template void sgd_apply<Space>(Space const&, KernelContext<Space> const&, SgdStep const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
