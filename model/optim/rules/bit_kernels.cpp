// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/rules/bit_kernels.hpp"

#include "core/device/launch.hpp"
#include "core/simd/device_math.hpp"
#include "core/simd/team_runs.hpp"
#include "core/system/error.hpp"
#include "model/optim/rules/compressed_formulas.hpp"

namespace bellwether::optim {
namespace {

template <class Access>
using Bits = comm::DecodedRun<false, Access>;

/// rho sqrt(v) + epsilon.
struct Root {
  KOKKOS_INLINE_FUNCTION float of(float root_of_shape) const { return growth * root_of_shape + epsilon; }
  float growth, epsilon;
};

/// Adjacent bits in a tensor, converted out of the exchange's units; with by_root, the root still has to be multiplied.
template <bool by_root, class Access>
KOKKOS_FORCEINLINE_FUNCTION Bits<Access> bits_of(comm::Decoded const& mean, float divisor, Index k, int many) {
  // Built in place: copying the result would wait until all its parts are in memory.
  Bits<Access> run = mean.run<false, Access>(k, many);
  if constexpr (!by_root) {
    run.magnitude = device_math::quotient(run.magnitude, divisor);
    run.next_magnitude = device_math::quotient(run.next_magnitude, divisor);
  }
  return run;
}

KOKKOS_INLINE_FUNCTION float divisor_of(Units const& units, std::int32_t tensor) {
  return units.unify == Unify::layer ? units.by_tensor[tensor] : 1;
}

/// u of adjacent elements. by_root: the units of the exchange are the update's denominator, so the values of the
/// exchange are the direction without decay.
template <bool by_root, class Access>
struct DirectionRun {
  KOKKOS_INLINE_FUNCTION float undecayed(int lane) const {
    float const value = mean(lane);
    if constexpr (by_root) return value;
    return device_math::quotient(value, root.of(device_math::root(variance[lane])));
  }

  Bits<Access> mean;
  Root root;
  typename Access::Read variance;
};

enum class Before { unread, numbers, bits };

/// The work of bit_lamb_sums() on adjacent elements.
template <bool by_root, Before before, bool shows, class Access>
struct SumsRun {
  KOKKOS_INLINE_FUNCTION Terms<3> operator()(int lane) const {
    float const x = parameters[lane], u0 = made.undecayed(lane), u = u0 + decay * x;
    if constexpr (shows) direction[lane] = u;
    float ratio = 0;
    if constexpr (before != Before::unread) ratio = compared(lane);
    return {{x, u, u0}, ratio};
  }

  /// Adds the gradient reconstructed from the momenta to the fresh variance. Returns the ratio of the roots.
  KOKKOS_INLINE_FUNCTION float compared(int lane) const {
    float const shape = device_math::root(made.variance[lane]), root = made.root.of(shape);
    std::uint32_t const active = made.mean.active_bits;
    float const m = by_root ? made.mean(lane) * root : made.mean(lane);
    float past = 0;
    if constexpr (before == Before::numbers)
      past = numbers[lane];
    else
      past = by_root ? bits(lane) * then.of(shape) : bits(lane);
    float const g = comm::masked(reconstructed_gradient(m, past, c.beta1, c.share1), active, lane);
    float const f = next_variance(c, fresh[lane], g);
    fresh[lane] = f;
    return device_math::quotient(comm::masked(root, active, lane), device_math::root(f) + c.epsilon);
  }

  DirectionRun<by_root, Access> made;
  Coefficients<float> c;
  float decay;
  typename Access::Read parameters;
  typename Access::Write direction;
  typename Access::Read numbers;
  Bits<Access> bits;
  Root then;
  typename Access::Change fresh;
};

/// A function object: nvcc copies a lambda of this size to the heap at every launch.
template <class Space>
struct SumsKernel {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    if (checked->skip) return;
    Block const block = blocks[team.league_rank()];
    auto const sum = units.unify == Unify::element ? shown<true>(team, block) : shown<false>(team, block);
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      for (int i = 0; i < 3; ++i) out[i * count + team.league_rank()] = sum.value[i];
      out[3 * count + team.league_rank()] = sum.largest;
    });
  }

 private:
  template <bool by_root, class Team>
  KOKKOS_INLINE_FUNCTION SumsAndLargest<3> shown(Team const& team, Block const& block) const {
    return direction != nullptr ? steered<by_root, true>(team, block) : steered<by_root, false>(team, block);
  }
  template <bool by_root, bool shows, class Team>
  KOKKOS_INLINE_FUNCTION SumsAndLargest<3> steered(Team const& team, Block const& block) const {
    if (fresh == nullptr) return over<by_root, Before::unread, shows>(team, block);
    return before.numbers != nullptr ? over<by_root, Before::numbers, shows>(team, block)
                                     : over<by_root, Before::bits, shows>(team, block);
  }
  template <bool by_root, Before from, bool shows, class Team>
  KOKKOS_INLINE_FUNCTION SumsAndLargest<3> over(Team const& team, Block const& block) const {
    float const divisor = divisor_of(units, block.tensor);
    Root const now{units.growth[block.tensor], units.epsilon};
    Root const then{from == Before::bits ? before.bits.growth[block.tensor] : 1.0f, units.epsilon};
    float const decay = rule[block.tensor].decay;
    comm::Decoded const& old =
        from == Before::bits ? before.bits.mean : mean;  // by reference: only read for the comparison
    return team_squares_of_runs<3, Space>(
        team, block.first, block.first + block.count, [&]<class Access>(Access, Index k, int many) {
          return SumsRun<by_root, from, shows, Access>{
              {bits_of<by_root, Access>(mean, divisor, k, many), now, units.variance + k},
              c,
              decay,
              parameters + k,
              shows ? direction + k : nullptr,
              from == Before::numbers ? before.numbers + k : nullptr,
              bits_of<by_root, Access>(old, divisor, k, many),
              then,
              from == Before::unread ? nullptr : fresh + k};
        });
  }

 public:
  Units units;
  comm::Decoded mean;
  HeldMomentum before;
  Coefficients<float> c;
  Index count;
  Block const* blocks;
  TensorRule const* rule;
  GradientCheck const* checked;
  float const* parameters;
  float* direction;
  float* fresh;
  double* out;
};

template <bool by_root, bool shows, class Access>
struct ApplyRun {
  KOKKOS_INLINE_FUNCTION void operator()(int lane) const {
    float const x = parameters[lane], u = made.undecayed(lane) + decay * x;
    parameters[lane] = x - rate * u;
    if constexpr (shows) direction[lane] = u;
  }

  DirectionRun<by_root, Access> made;
  float decay, rate;
  typename Access::Change parameters;
  typename Access::Write direction;
};

template <class Space>
struct ApplyKernel {
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(Team const& team) const {
    if (checked->skip) return;
    Block const block = blocks[team.league_rank()];
    if (units.unify == Unify::element)
      direction != nullptr ? over<true, true>(team, block) : over<true, false>(team, block);
    else
      direction != nullptr ? over<false, true>(team, block) : over<false, false>(team, block);
  }

 private:
  template <bool by_root, bool shows, class Team>
  KOKKOS_INLINE_FUNCTION void over(Team const& team, Block const& block) const {
    float const divisor = divisor_of(units, block.tensor);
    Root const now{units.growth[block.tensor], units.epsilon};
    float const decay = rule[block.tensor].decay;
    float const rate = static_cast<float>(learning_rate * (ratios != nullptr ? ratios[block.tensor] : 1.0f));
    team_for_runs<Space>(team, block.first, block.first + block.count, [&]<class Access>(Access, Index k, int many) {
      return ApplyRun<by_root, shows, Access>{
          {bits_of<by_root, Access>(mean, divisor, k, many), now, units.variance + k},
          decay,
          rate,
          parameters + k,
          shows ? direction + k : nullptr};
    });
  }

 public:
  Units units;
  comm::Decoded mean;
  double learning_rate;
  Block const* blocks;
  TensorRule const* rule;
  GradientCheck const* checked;
  float const* ratios;
  float* parameters;
  float* direction;
};

}  // namespace

template <class Space>
void bit_lamb_sums(Space const& exec, KernelContext<Space> const& context, BitLambSums const& arguments,
                   Vec<double, Space> const& norms) {
  Index const count = context.table.count();
  require(static_cast<Index>(norms.extent(0)) == 4 * count, "scratch needs four numbers for each block");
  require_neighbours<Space>(arguments.units.variance, arguments.before.numbers, arguments.parameters,
                            arguments.direction, arguments.fresh);
  launch<"bellwether::optim::bit_lamb_sums">(team_policy(exec, count),
                                             SumsKernel<Space>{.units = arguments.units,
                                                               .mean = arguments.mean,
                                                               .before = arguments.before,
                                                               .c = arguments.coefficients,
                                                               .count = count,
                                                               .blocks = context.table.blocks().data(),
                                                               .rule = context.rules.data(),
                                                               .checked = context.gradient_check.data(),
                                                               .parameters = arguments.parameters,
                                                               .direction = arguments.direction,
                                                               .fresh = arguments.fresh,
                                                               .out = norms.data()});
}

template <class Space>
void bit_apply(Space const& exec, KernelContext<Space> const& context, BitStep const& step) {
  require_neighbours<Space>(step.units.variance, step.parameters, step.direction);
  launch<"bellwether::optim::bit_apply">(team_policy(exec, context.table.count()),
                                         ApplyKernel<Space>{.units = step.units,
                                                            .mean = step.mean,
                                                            .learning_rate = step.learning_rate,
                                                            .blocks = context.table.blocks().data(),
                                                            .rule = context.rules.data(),
                                                            .checked = context.gradient_check.data(),
                                                            .ratios = step.ratios,
                                                            .parameters = step.parameters,
                                                            .direction = step.direction});
}

#define BELLWETHER_INSTANTIATE(Space)                                                               \
  template void bit_lamb_sums<Space>(Space const&, KernelContext<Space> const&, BitLambSums const&, \
                                     Vec<double, Space> const&);                                    \
  template void bit_apply<Space>(Space const&, KernelContext<Space> const&, BitStep const&);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
