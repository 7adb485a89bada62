// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/decoded_kernels.hpp"

#include "core/device/launch.hpp"
#include "core/simd/device_math.hpp"
#include "core/simd/team_runs.hpp"
#include "core/system/error.hpp"

#include <type_traits>

namespace bellwether::optim {
namespace {

/// Converts the mean of an exchange to the next momentum: out of its units, then keep m + take * mean. growth: rho.
struct Restored {
  KOKKOS_INLINE_FUNCTION Restored(Units const& units, std::int32_t tensor, Coefficients<float> const& c)
      : divisor(units.unify == Unify::layer ? units.by_tensor[tensor] : 1.0f),
        keep(units.exchange == Exchange::gradient ? c.beta1 : 0.0f),
        take(units.exchange == Exchange::gradient ? c.share1 : 1.0f),
        growth(units.growth[tensor]),
        lead(units.lead) {}

  float divisor, keep, take, growth, lead;
};

/// The next momentum of adjacent elements. With by_root, values of the exchange are multiplied by the root; otherwise
/// they are divided by the tensor's number (1 without units). Masked elements become 0.
template <bool exact, bool by_root, class Access>
struct MomentumRun {
  KOKKOS_INLINE_FUNCTION float operator()(int lane, float root, float before) const {
    float const value = mean(lane);
    float const restored = by_root ? value * root : device_math::quotient(value, units.divisor);
    return comm::masked(units.keep * before + units.take * restored, mean.active_bits, lane);
  }

  comm::DecodedRun<exact, Access> mean;
  Restored units;
};

/// The work of decoded_lamb_moments() on adjacent elements.
template <bool exact, bool by_root, bool steered, class Access>
struct LambRun {
  KOKKOS_INLINE_FUNCTION Terms<3> operator()(int lane) const {
    float const root = to_momentum.units.growth * device_math::root(variance[lane]) + c.epsilon;
    // Masks instead of branches: a division inside a branch prevents vectorization.
    std::uint32_t const active = to_momentum.mean.active_bits;
    float const before = momentum[lane];
    float const m = to_momentum(lane, root, before);
    float const x = parameters[lane];
    float const u0 = device_math::quotient(led_momentum(m, before, to_momentum.units.lead), root);
    float const u = u0 + decay * x;
    float ratio = 0;
    if constexpr (steered) {
      float const g = comm::masked(reconstructed_gradient(m, before, c.beta1, c.share1), active, lane);
      float const f = next_variance(c, fresh[lane], g);
      fresh[lane] = f;
      ratio = device_math::quotient(comm::masked(root, active, lane), device_math::root(f) + c.epsilon);
    }
    momentum[lane] = m;
    gradient[lane] = u;
    return {{x, u, u0}, ratio};
  }

  MomentumRun<exact, by_root, Access> to_momentum;
  Coefficients<float> c;
  float decay;
  typename Access::Read parameters, variance;
  typename Access::Write gradient;
  typename Access::Change momentum, fresh;
};

/// A function object, like AdamKernel: nvcc copies a lambda of this size to the heap at every launch. Choices that are
/// the same for all elements are template parameters, because a device kernel needs registers for all its possible
/// paths.
template <bool exact, bool by_root, bool steered, class Space>
struct LambKernel {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    if (checked->skip) return;
    Block const block = blocks[team.league_rank()];
    Restored const restored(units, block.tensor, c);
    float const decay = rule[block.tensor].decay;
    auto const sum = team_squares_of_runs<3, Space>(
        team, block.first, block.first + block.count, [&]<class Access>(Access, Index k, int many) {
          return LambRun<exact, by_root, steered, Access>{{mean.run<exact, Access>(k, many), restored},
                                                          c,
                                                          decay,
                                                          parameters + k,
                                                          variance + k,
                                                          gradient + k,
                                                          momentum + k,
                                                          steered ? fresh + k : nullptr};
        });
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      for (int i = 0; i < 3; ++i) out[i * count + team.league_rank()] = sum.value[i];
      out[3 * count + team.league_rank()] = sum.largest;
    });
  }

  Coefficients<float> c;
  Units units;
  comm::Decoded mean;
  float const *parameters, *variance;
  float *gradient, *momentum, *fresh;
  Index count;
  Block const* blocks;
  TensorRule const* rule;
  GradientCheck const* checked;
  double* out;
};

/// Calls use() with the three choices as compile-time constants.
template <class Use>
void with_known(bool first, bool second, bool third, Use const& use) {
  auto const of_third = [&](auto one, auto two) {
    third ? use(one, two, std::true_type()) : use(one, two, std::false_type());
  };
  auto const of_second = [&](auto one) { second ? of_third(one, std::true_type()) : of_third(one, std::false_type()); };
  first ? of_second(std::true_type()) : of_second(std::false_type());
}

template <bool exact, bool by_root, bool shows, class Access>
struct AdamRun {
  KOKKOS_INLINE_FUNCTION void operator()(int lane) const {
    float const root = to_momentum.units.growth * device_math::root(variance[lane]) + epsilon;
    float const before = momentum[lane];
    float const m = to_momentum(lane, root, before);
    float const x = parameters[lane];
    float const u = device_math::quotient(led_momentum(m, before, to_momentum.units.lead), root) + decay * x;
    momentum[lane] = m;
    parameters[lane] = x - rate * u;
    if constexpr (shows) direction[lane] = u;
  }

  MomentumRun<exact, by_root, Access> to_momentum;
  float epsilon, rate, decay;
  typename Access::Read variance;
  typename Access::Change parameters, momentum;
  typename Access::Write direction;
};

template <bool exact, bool by_root, bool shows, class Space>
struct AdamKernel {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    if (checked->skip) return;
    Block const block = blocks[team.league_rank()];
    Restored const restored(units, block.tensor, c);
    float const decay = rule[block.tensor].decay;
    team_for_runs<Space>(team, block.first, block.first + block.count, [&]<class Access>(Access, Index k, int many) {
      return AdamRun<exact, by_root, shows, Access>{{mean.run<exact, Access>(k, many), restored},
                                                    c.epsilon,
                                                    rate,
                                                    decay,
                                                    variance + k,
                                                    parameters + k,
                                                    momentum + k,
                                                    shows ? direction + k : nullptr};
    });
  }

  Coefficients<float> c;
  Units units;
  comm::Decoded mean;
  float rate;
  float const* variance;
  float *parameters, *momentum, *direction;
  Block const* blocks;
  TensorRule const* rule;
  GradientCheck const* checked;
};

template <bool exact, class Access>
struct SgdRun {
  KOKKOS_INLINE_FUNCTION void operator()(int lane) const {
    // The mean is clip g + decay x for active elements. Masked ones take no part in the exchange and have no gradient.
    float const x = parameters[lane];
    float const taken = mean.active(lane) ? mean(lane) : decay * x;
    float const m = beta1 * momentum[lane] + taken;
    momentum[lane] = m;
    parameters[lane] = x - rate * m;
  }

  comm::DecodedRun<exact, Access> mean;
  float beta1, rate, decay;
  typename Access::Change parameters, momentum;
};

/// Factors of one block in a step of SGD.
struct SgdFactors {
  float beta1, rate, decay;
};

template <bool exact, class Space, class Team>
KOKKOS_INLINE_FUNCTION void apply_sgd(Team const& team, Block const& block, comm::Decoded const& mean,
                                      SgdFactors const& factors, float* parameters, float* momentum) {
  team_for_runs<Space>(team, block.first, block.first + block.count, [&]<class Access>(Access, Index k, int count) {
    return SgdRun<exact, Access>{
        mean.run<exact, Access>(k, count), factors.beta1, factors.rate, factors.decay, parameters + k, momentum + k};
  });
}

}  // namespace

template <class Space>
void average_ratios(Space const& exec, Index tensors, double beta, Vec<GradientCheck, Space> const& gradient_check,
                    FrozenLambRecord const& record) {
  GradientCheck const* const checked = gradient_check.data();
  FrozenLambRecord const out = record;
  launch<"bellwether::optim::average_ratios">(
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, tensors), KOKKOS_LAMBDA(Index l) {
        if (checked->skip || out.lamb.weight_norm[l] == 0 || out.lamb.update_norm[l] == 0) return;
        out.average[l] = static_cast<float>(next_average(out.average[l], out.lamb.trust_ratio[l], beta));
        out.sampled[l] = 1;
      });
}

template <class Space>
void decoded_lamb_moments(Space const& exec, KernelContext<Space> const& context, DecodedLambMoments const& arguments,
                          Vec<double, Space> const& norms) {
  DecodedLambMoments const& in = arguments;
  Index const count = context.table.count();
  require(static_cast<Index>(norms.extent(0)) == 4 * count, "scratch needs four numbers for each block");
  require_neighbours<Space>(in.parameters, in.variance, in.direction, in.momentum, in.fresh, in.mean.values());
  with_known(in.mean.exact(), in.units.unify == Unify::element, in.fresh != nullptr,
             [&](auto exact, auto by_root, auto steered) {
               launch<"bellwether::optim::decoded_lamb_moments">(
                   bound_team_policy<3>(exec, count),
                   LambKernel<exact, by_root, steered, Space>{in.coefficients, in.units, in.mean, in.parameters,
                                                              in.variance, in.direction, in.momentum, in.fresh, count,
                                                              context.table.blocks().data(), context.rules.data(),
                                                              context.gradient_check.data(), norms.data()});
             });
}

template <class Space>
void decoded_lamb_factors(Space const& exec, KernelContext<Space> const& context, FactorBounds const& bounds,
                          Vec<double, Space> const& norms, FrozenLambRecord const& record) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const count = context.table.count();
  Index const* const first = context.table.first_block().data();
  TensorRule const* const rule = context.rules.data();
  GradientCheck const* const checked = context.gradient_check.data();
  double const* const by_block = norms.data();
  FactorBounds const limits = bounds;
  FrozenLambRecord const out = record;
  launch<"bellwether::optim::decoded_lamb_factors">(
      team_policy(exec, context.table.tensors()), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Index const l = team.league_rank();
        auto const sum = team_sum_and_largest<3, Space>(team, first[l], first[l + 1], [=](Index block) {
          return SumsAndLargest<3>{{by_block[block], by_block[count + block], by_block[2 * count + block]},
                                   by_block[3 * count + block]};
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          double const update_norm = Kokkos::sqrt(sum.value[1]);
          // Without active elements there is nothing to compare.
          double const ratio = sum.largest > 0 ? sum.largest : 1;
          double const r =
              next_factor(ratio, Kokkos::sqrt(sum.value[2]), update_norm, rule[l].decay > 0, out.factor[l], limits);
          out.factor[l] = static_cast<float>(r);
          out.lamb.trust_ratio[l] = rule[l].adapts ? static_cast<float>(out.average[l] * r) : 1;
          out.lamb.weight_norm[l] = static_cast<float>(Kokkos::sqrt(sum.value[0]));
          out.lamb.update_norm[l] = static_cast<float>(update_norm);
        });
      });
}

template <class Space>
void relate_ratios(Space const& exec, Index tensors, Vec<GradientCheck, Space> const& gradient_check,
                   FrozenLambRecord const& record) {
  GradientCheck const* const checked = gradient_check.data();
  FrozenLambRecord const out = record;
  launch<"bellwether::optim::relate_ratios">(
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, tensors), KOKKOS_LAMBDA(Index l) {
        if (!checked->skip && out.average[l] > 0) out.factor[l] = out.lamb.trust_ratio[l] / out.average[l];
      });
}

template <class Space>
void decoded_adam_apply(Space const& exec, KernelContext<Space> const& context, DecodedAdamStep const& step) {
  require_neighbours<Space>(step.variance, step.parameters, step.momentum, step.direction, step.mean.values());
  with_known(step.mean.exact(), step.units.unify == Unify::element, step.direction != nullptr,
             [&](auto exact, auto by_root, auto shows) {
               launch<"bellwether::optim::decoded_adam_apply">(
                   bound_team_policy<4>(exec, context.table.count()),
                   AdamKernel<exact, by_root, shows, Space>{
                       step.coefficients, step.units, step.mean, static_cast<float>(step.learning_rate), step.variance,
                       step.parameters, step.momentum, step.direction, context.table.blocks().data(),
                       context.rules.data(), context.gradient_check.data()});
             });
}

template <class Space>
void decoded_sgd_apply(Space const& exec, KernelContext<Space> const& context, DecodedSgdStep const& step) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  require_neighbours<Space>(step.parameters, step.momentum, step.mean.values());
  Block const* const blocks = context.table.blocks().data();
  TensorRule const* const rule = context.rules.data();
  GradientCheck const* const checked = context.gradient_check.data();
  // Only what the kernel needs: nvcc copies a large lambda to the heap.
  float const rate = static_cast<float>(step.learning_rate), beta1 = step.beta1;
  comm::Decoded const decoded = step.mean;
  float *const parameters = step.parameters, *const momentum = step.momentum;
  launch<"bellwether::optim::decoded_sgd_apply">(
      team_policy(exec, context.table.count()), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Block const block = blocks[team.league_rank()];
        SgdFactors const factors{beta1, rate, rule[block.tensor].decay};
        if (decoded.exact())
          apply_sgd<true, Space>(team, block, decoded, factors, parameters, momentum);
        else
          apply_sgd<false, Space>(team, block, decoded, factors, parameters, momentum);
      });
}

#define BELLWETHER_INSTANTIATE(Space)                                                                                 \
  template void average_ratios<Space>(Space const&, Index, double, Vec<GradientCheck, Space> const&,                  \
                                      FrozenLambRecord const&);                                                       \
  template void relate_ratios<Space>(Space const&, Index, Vec<GradientCheck, Space> const&, FrozenLambRecord const&); \
  template void decoded_lamb_moments<Space>(Space const&, KernelContext<Space> const&, DecodedLambMoments const&,     \
                                            Vec<double, Space> const&);                                               \
  template void decoded_lamb_factors<Space>(Space const&, KernelContext<Space> const&, FactorBounds const&,           \
                                            Vec<double, Space> const&, FrozenLambRecord const&);                      \
  template void decoded_adam_apply<Space>(Space const&, KernelContext<Space> const&, DecodedAdamStep const&);         \
  template void decoded_sgd_apply<Space>(Space const&, KernelContext<Space> const&, DecodedSgdStep const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
