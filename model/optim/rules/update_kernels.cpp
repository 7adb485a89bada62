// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/update_kernels.hpp"

#include "core/device/launch.hpp"
#include "core/device/team_sum.hpp"
#include "core/system/error.hpp"

namespace bellwether::optim {
namespace {

using Measured = SumsAndLargest<3>;

KOKKOS_INLINE_FUNCTION Measured measured(float x, float u, float m) {
  return {{static_cast<double>(x) * x, static_cast<double>(u) * u, static_cast<double>(m) * m}, Kokkos::abs(u)};
}

/// Computes the sums of one block. Decides once per block how u is computed.
struct UpdatePass {
  template <class Space, class Team>
  KOKKOS_INLINE_FUNCTION Measured over(Team const& team, Block const& block, float decay) const {
    Index const first = block.first, last = block.first + block.count;
    UpdatePass const p = *this;
    std::int32_t const tensor = block.tensor;
    if (p.made.direction != nullptr && !p.weights)
      return team_sum_and_largest<3, Space>(team, first, last, [=](Index k) {
        return measured(0, p.made.direction[k], p.momentum.at(p.units, k, tensor));
      });
    if (p.made.direction != nullptr)
      return team_sum_and_largest<3, Space>(team, first, last, [=](Index k) {
        float const u = p.made.direction[k];
        return measured(p.parameters[k] + p.rate * u, u, p.momentum.at(p.units, k, tensor));
      });
    if (p.made.variance == nullptr)
      return team_sum_and_largest<3, Space>(team, first, last, [=](Index k) {
        float const u = p.momentum.numbers[k];
        return measured(p.parameters[k] + p.rate * u, u, u);
      });
    // u = u0 + decay (x + rate u), solved for u.
    float const share = 1 / (1 - p.rate * decay);
    return team_sum_and_largest<3, Space>(team, first, last, [=](Index k) {
      float const m = p.momentum.numbers[k], x = p.parameters[k];
      float const u = share * (m / (Kokkos::sqrt(p.made.variance[k]) + p.made.epsilon) + decay * x);
      return measured(x + p.rate * u, u, m);
    });
  }

  MadeStep made;
  float rate;
  float const* parameters;
  HeldMomentum momentum;
  Units units;
  bool weights;  ///< compute |x|
};

}  // namespace

template <class Space>
void measure_update(Space const& exec, KernelContext<Space> const& context, MeasuredStep const& step,
                    Vec<double, Space> const& partial, UpdateRecord const& record) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const count = context.table.count();
  require(step.momentum.numbers != nullptr || step.made.direction != nullptr, "a sign momentum needs a direction");
  require(static_cast<Index>(partial.extent(0)) == update_sums * count, "scratch needs four numbers for each block");
  Block const* const blocks = context.table.blocks().data();
  Index const* const first = context.table.first_block().data();
  TensorRule const* const rule = context.rules.data();
  GradientCheck const* const checked = context.gradient_check.data();
  double* const by_block = partial.data();
  UpdateRecord const out = record;
  UpdatePass const pass{step.made,  static_cast<float>(step.learning_rate), step.parameters, step.momentum,
                        step.units, record.weight_norm != nullptr};
  launch<"bellwether::optim::update_blocks">(
      team_policy(exec, count), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Block const block = blocks[team.league_rank()];
        auto const sum = pass.template over<Space>(team, block, rule[block.tensor].decay);
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          for (int i = 0; i < 3; ++i) by_block[i * count + team.league_rank()] = sum.value[i];
          by_block[3 * count + team.league_rank()] = sum.largest;
        });
      });
  launch<"bellwether::optim::update_norms">(
      team_policy(exec, context.table.tensors()), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Index const l = team.league_rank();
        auto const sum = team_sum_and_largest<3, Space>(team, first[l], first[l + 1], [=](Index block) {
          return Measured{{by_block[block], by_block[count + block], by_block[2 * count + block]},
                          by_block[3 * count + block]};
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          if (out.weight_norm != nullptr) {
            out.weight_norm[l] = static_cast<float>(Kokkos::sqrt(sum.value[0]));
            out.update_norm[l] = static_cast<float>(Kokkos::sqrt(sum.value[1]));
          }
          out.momentum_norm[l] = static_cast<float>(Kokkos::sqrt(sum.value[2]));
          out.largest_update[l] = static_cast<float>(sum.largest);
        });
      });
}

template <class Space>
void forget_update(Space const& exec, Index tensors, Vec<GradientCheck, Space> const& gradient_check,
                   UpdateRecord const& record) {
  GradientCheck const* const checked = gradient_check.data();
  UpdateRecord const out = record;
  launch<"bellwether::optim::forget_update">(
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, tensors), KOKKOS_LAMBDA(Index l) {
        if (checked->skip) return;
        float const none = Kokkos::Experimental::quiet_NaN_v<float>;
        if (out.weight_norm != nullptr) out.weight_norm[l] = out.update_norm[l] = none;
        out.momentum_norm[l] = out.largest_update[l] = none;
      });
}

#define BELLWETHER_INSTANTIATE(Space)                                                                 \
  template void measure_update<Space>(Space const&, KernelContext<Space> const&, MeasuredStep const&, \
                                      Vec<double, Space> const&, UpdateRecord const&);                \
  template void forget_update<Space>(Space const&, Index, Vec<GradientCheck, Space> const&, UpdateRecord const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
