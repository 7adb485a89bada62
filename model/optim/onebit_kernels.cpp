// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/onebit_kernels.hpp"

#include "core/error.hpp"
#include "core/reduce.hpp"
#include "core/team_sum.hpp"

namespace bellwether::optim {
namespace {

/// The momentum that a value of the exchange stands for.
KOKKOS_INLINE_FUNCTION float out_of_units(Units const& units, float value, float root, std::int32_t tensor) {
  if (units.unify == Unify::element) return value * root;
  return units.unify == Unify::layer ? value / units.by_tensor[tensor] : value;
}

KOKKOS_INLINE_FUNCTION bool is_live(comm::Decoded const& mean, Index k) {
  return (mean.live(k / 32) >> (31 - k % 32) & 1u) != 0;
}

}  // namespace

template <class Space>
void average_ratios(Space const& exec, Index tensors, double beta, Vec<Verdict, Space> const& verdict,
                    OnebitRecord const& record) {
  // Kokkos takes labels as std::string: made once, because a step allocates nothing.
  static std::string const label = "bellwether::optim::average_ratios";
  Verdict const* const judged = verdict.data();
  OnebitRecord const out = record;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, tensors), KOKKOS_LAMBDA(Index l) {
        if (judged->skip || out.lamb.weight_norm[l] == 0 || out.lamb.update_norm[l] == 0) return;
        out.average[l] = static_cast<float>(next_average(out.average[l], out.lamb.trust_ratio[l], beta));
        out.sampled[l] = 1;
      });
}

template <class Space>
void onebit_lamb_moments(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                         Coefficients<float> const& coefficients, Units const& units, comm::Decoded const& mean,
                         Vec<Verdict, Space> const& verdict, float const* parameters, float const* variance,
                         float* gradient, float* momentum, float* fresh, Vec<double, Space> const& norms) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Index const count = table.count();
  require(static_cast<Index>(norms.extent(0)) == 4 * count, "numbers by block need four for each block");
  static std::string const label = "bellwether::optim::onebit_lamb_moments";
  Block const* const blocks = table.blocks().data();
  TensorRule const* const rule = rules.data();
  Verdict const* const judged = verdict.data();
  double* const out = norms.data();
  Coefficients<float> const c = coefficients;
  Units const unit = units;
  comm::Decoded const decoded = mean;
  Kokkos::parallel_for(
      label, team_policy(exec, count), KOKKOS_LAMBDA(Team const& team) {
        if (judged->skip) return;
        Block const block = blocks[team.league_rank()];
        float const decay = rule[block.tensor].decay;
        auto const sum = team_sum_and_largest<3, Space>(team, block.first, block.first + block.count, [=](Index k) {
          float const root = Kokkos::sqrt(variance[k]) + c.epsilon;
          bool const live = is_live(decoded, k);
          float const m = live ? out_of_units(unit, decoded(k), root, block.tensor) : 0;
          float const g = live ? reconstructed_gradient(m, momentum[k], c.beta1, c.share1) : 0;
          float const f = next_variance(c, fresh[k], g);
          float const x = parameters[k];
          float const u0 = m / root;
          float const u = u0 + decay * x;
          momentum[k] = m;
          fresh[k] = f;
          gradient[k] = u;
          double const ratio = live ? static_cast<double>(root) / (Kokkos::sqrt(f) + c.epsilon) : 0;
          return SumsAndLargest<3>{
              {static_cast<double>(x) * x, static_cast<double>(u) * u, static_cast<double>(u0) * u0}, ratio};
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          for (int i = 0; i < 3; ++i) out[i * count + team.league_rank()] = sum.value[i];
          out[3 * count + team.league_rank()] = sum.largest;
        });
      });
}

template <class Space>
void onebit_lamb_factors(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                         FactorBounds const& bounds, Vec<Verdict, Space> const& verdict,
                         Vec<double, Space> const& norms, OnebitRecord const& record) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  static std::string const label = "bellwether::optim::onebit_lamb_factors";
  Index const count = table.count();
  Index const* const first = table.first_block().data();
  TensorRule const* const rule = rules.data();
  Verdict const* const judged = verdict.data();
  double const* const by_block = norms.data();
  FactorBounds const limits = bounds;
  OnebitRecord const out = record;
  Kokkos::parallel_for(
      label, team_policy(exec, table.tensors()), KOKKOS_LAMBDA(Team const& team) {
        if (judged->skip) return;
        Index const l = team.league_rank();
        auto const sum = team_sum_and_largest<3, Space>(team, first[l], first[l + 1], [=](Index block) {
          return SumsAndLargest<3>{{by_block[block], by_block[count + block], by_block[2 * count + block]},
                                   by_block[3 * count + block]};
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          double const update_norm = Kokkos::sqrt(sum.value[1]);
          // Without live elements there is nothing to compare.
          double const weight_norm = Kokkos::sqrt(sum.value[0]);
          double const wanted = weight_norm > 0 && update_norm > 0 && out.average[l] > 0
                                    ? weight_norm / update_norm / static_cast<double>(out.average[l])
                                    : 1;
          double const found = sum.largest > 0 ? sum.largest : 1;
          double const ratio = limits.steer == Steer::norm ? wanted : found;
          double const r =
              next_factor(ratio, Kokkos::sqrt(sum.value[2]), update_norm, rule[l].decay > 0, out.factor[l], limits);
          out.factor[l] = static_cast<float>(r);
          out.lamb.trust_ratio[l] = rule[l].adapts ? static_cast<float>(out.average[l] * r) : 1;
          out.lamb.weight_norm[l] = static_cast<float>(weight_norm);
          out.lamb.update_norm[l] = static_cast<float>(update_norm);
        });
      });
}

template <class Space>
void onebit_adam_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules,
                       Coefficients<float> const& coefficients, Units const& units, comm::Decoded const& mean,
                       double learning_rate, Vec<Verdict, Space> const& verdict, float const* variance,
                       float* parameters, float* momentum) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  static std::string const label = "bellwether::optim::onebit_adam_apply";
  Block const* const blocks = table.blocks().data();
  TensorRule const* const rule = rules.data();
  Verdict const* const judged = verdict.data();
  float const rate = static_cast<float>(learning_rate);
  float const epsilon = coefficients.epsilon;
  Units const unit = units;
  comm::Decoded const decoded = mean;
  Kokkos::parallel_for(
      label, team_policy(exec, table.count()), KOKKOS_LAMBDA(Team const& team) {
        if (judged->skip) return;
        Block const block = blocks[team.league_rank()];
        float const decay = rule[block.tensor].decay;
        team_for<Space>(team, block.first, block.first + block.count, [=](Index k) {
          float const root = Kokkos::sqrt(variance[k]) + epsilon;
          float const m = is_live(decoded, k) ? out_of_units(unit, decoded(k), root, block.tensor) : 0;
          momentum[k] = m;
          parameters[k] -= rate * (m / root + decay * parameters[k]);
        });
      });
}

template <class Space>
void sgd_apply(Space const& exec, BlockTable<Space> const& table, Vec<TensorRule, Space> const& rules, float beta1,
               double learning_rate, Vec<Verdict, Space> const& verdict, float const* gradient, float* parameters,
               float* momentum) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  static std::string const label = "bellwether::optim::sgd_apply";
  Block const* const blocks = table.blocks().data();
  TensorRule const* const rule = rules.data();
  Verdict const* const judged = verdict.data();
  float const rate = static_cast<float>(learning_rate);
  Kokkos::parallel_for(
      label, team_policy(exec, table.count()), KOKKOS_LAMBDA(Team const& team) {
        if (judged->skip) return;
        Block const block = blocks[team.league_rank()];
        float const decay = rule[block.tensor].decay;
        float const clip = static_cast<float>(judged->clip_factor);
        team_for<Space>(team, block.first, block.first + block.count, [=](Index k) {
          float const m = beta1 * momentum[k] + (clip * gradient[k] + decay * parameters[k]);
          momentum[k] = m;
          parameters[k] -= rate * m;
        });
      });
}

template <class Space>
void onebit_sgd_apply(Space const& exec, BlockTable<Space> const& table, float beta1, comm::Decoded const& mean,
                      double learning_rate, Vec<Verdict, Space> const& verdict, float* parameters, float* momentum) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  static std::string const label = "bellwether::optim::onebit_sgd_apply";
  Block const* const blocks = table.blocks().data();
  Verdict const* const judged = verdict.data();
  float const rate = static_cast<float>(learning_rate);
  comm::Decoded const decoded = mean;
  Kokkos::parallel_for(
      label, team_policy(exec, table.count()), KOKKOS_LAMBDA(Team const& team) {
        if (judged->skip) return;
        Block const block = blocks[team.league_rank()];
        team_for<Space>(team, block.first, block.first + block.count, [=](Index k) {
          float const m = is_live(decoded, k) ? beta1 * momentum[k] + decoded(k) : 0;
          momentum[k] = m;
          parameters[k] -= rate * m;
        });
      });
}

template <class Space>
double sum_of_magnitudes(Space const& exec, Index count, float const* values) {
  return ordered_sum(
      exec, "bellwether::optim::sum_of_magnitudes", 0, count,
      KOKKOS_LAMBDA(Index k) { return static_cast<double>(Kokkos::abs(values[k])); });
}

#define BELLWETHER_INSTANTIATE(Space)                                                                                  \
  template void average_ratios<Space>(Space const&, Index, double, Vec<Verdict, Space> const&, OnebitRecord const&);   \
  template void onebit_lamb_moments<Space>(Space const&, BlockTable<Space> const&, Vec<TensorRule, Space> const&,      \
                                           Coefficients<float> const&, Units const&, comm::Decoded const&,             \
                                           Vec<Verdict, Space> const&, float const*, float const*, float*, float*,     \
                                           float*, Vec<double, Space> const&);                                         \
  template void onebit_lamb_factors<Space>(Space const&, BlockTable<Space> const&, Vec<TensorRule, Space> const&,      \
                                           FactorBounds const&, Vec<Verdict, Space> const&, Vec<double, Space> const&, \
                                           OnebitRecord const&);                                                       \
  template void onebit_adam_apply<Space>(Space const&, BlockTable<Space> const&, Vec<TensorRule, Space> const&,        \
                                         Coefficients<float> const&, Units const&, comm::Decoded const&, double,       \
                                         Vec<Verdict, Space> const&, float const*, float*, float*);                    \
  template void sgd_apply<Space>(Space const&, BlockTable<Space> const&, Vec<TensorRule, Space> const&, float, double, \
                                 Vec<Verdict, Space> const&, float const*, float*, float*);                            \
  template void onebit_sgd_apply<Space>(Space const&, BlockTable<Space> const&, float, comm::Decoded const&, double,   \
                                        Vec<Verdict, Space> const&, float*, float*);                                   \
  template double sum_of_magnitudes<Space>(Space const&, Index, float const*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::optim
