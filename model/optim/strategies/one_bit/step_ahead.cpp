// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/strategies/one_bit/step_ahead.hpp"

#include "core/device/launch.hpp"
#include "core/simd/device_math.hpp"
#include "core/simd/team_runs.hpp"

#include <type_traits>

namespace bellwether::optim {
namespace {

constexpr auto state_name = "mean_residual";

/// Updates adjacent elements of h from the residuals of the last exchange. Values: how h is accessed.
template <class Access, class Values = typename Access::Change>
struct FollowRun {
  // A single product, so that compilers that fuse products and sums round identically at all call sites.
  KOKKOS_INLINE_FUNCTION void operator()(int lane) const { h[lane] += share * (residual(lane) - h[lane]); }

  comm::ResidualRun<Access> residual;
  float share;  ///< 1 - beta1
  Values h;
};

/// Computes adjacent elements of the point. follows: updates h first. by_root: divides h by the roots of the variance.
template <bool follows, bool by_root, class Access>
struct PointRun {
  KOKKOS_INLINE_FUNCTION void operator()(int lane) const {
    if constexpr (follows) follow(lane);
    float left = follow.h[lane];
    if constexpr (by_root) left = device_math::quotient(left, growth * device_math::root(variance[lane]) + epsilon);
    to[lane] = parameters[lane] - factor * left;
  }

  FollowRun<Access, std::conditional_t<follows, typename Access::Change, typename Access::Read>> follow;
  float factor, growth, epsilon;
  typename Access::Read variance, parameters;
  typename Access::Write to;
};

struct PointPass {
  template <bool follows, bool by_root, class Team>
  KOKKOS_INLINE_FUNCTION void over(Team const& team, Block const& block) const {
    Index const begin = block.first, end = block.first + block.count;
    // The part of the block that this rank compresses.
    Index const from = Kokkos::min(Kokkos::max(first, begin), end);
    Index const last = Kokkos::min(Kokkos::max(first + count, from), end);
    float factor = rate * (ratios != nullptr ? ratios[block.tensor] : 1.0f);
    if (units.unify == Unify::layer) factor /= units.by_tensor[block.tensor];
    float const growth = by_root ? units.growth[block.tensor] : 1.0f;
    auto const copy = [=, *this](Index k) { to[k] = parameters[k]; };
    team_for<Exec>(team, begin, from, copy);
    team_for_runs<Exec>(team, from, last, [=, *this]<class Access>(Access, Index k, int many) {
      return PointRun<follows, by_root, Access>{
          {follows ? mean.residuals<Access>(k - first, many) : comm::ResidualRun<Access>{0u, 0, 0, 0, nullptr}, share,
           h + (k - first)},
          factor,
          growth,
          units.epsilon,
          by_root ? units.variance + k : nullptr,
          parameters + k,
          to + k};
    });
    team_for<Exec>(team, last, end, copy);
  }

  Units units;
  Index first, count;
  float* h;
  comm::LastMean mean;
  float share;
  float const* ratios;
  float rate;
  float const* parameters;
  float* to;
};

}  // namespace

StepAhead::StepAhead(ParameterLayout const& layout, Index first, Index count)
    : first_(first),
      mean_residual_("bellwether::optim::mean_residual", static_cast<std::size_t>(count)),
      point_(layout, "bellwether::optim::gradient_point") {}

void StepAhead::follow(comm::LastMean const& last, float beta1, Vec<GradientCheck> const& gradient_check) {
  owed_ = Owed{last, 1 - beta1, gradient_check};
}

void StepAhead::update(Exec const& exec) {
  if (!owed_) return;
  using Team = Kokkos::TeamPolicy<Exec>::member_type;
  comm::LastMean const last = owed_->last;
  float const share = owed_->share;
  GradientCheck const* const checked = owed_->gradient_check.data();
  float* const h = mean_residual_.data();
  launch<"bellwether::optim::follow_residuals">(
      team_policy(exec, (last.count + reduce_block - 1) / reduce_block), KOKKOS_LAMBDA(Team const& team) {
        if (checked->skip) return;
        Index const first = Index{team.league_rank()} * reduce_block;
        team_for_runs<Exec>(team, first, Kokkos::min(last.count, first + reduce_block),
                            [&]<class Access>(Access, Index k, int many) {
                              return FollowRun<Access>{last.residuals<Access>(k, many), share, h + k};
                            });
      });
  owed_.reset();
}

float const* StepAhead::point(Exec const& exec, BlockTable<Exec> const& table, Units const& units, float const* ratios,
                              double rate, Arena<> const& parameters) {
  using Team = Kokkos::TeamPolicy<Exec>::member_type;
  require_neighbours<Exec>(units.variance, parameters.data());
  Block const* const blocks = table.blocks().data();
  PointPass const pass{.units = units,
                       .first = first_,
                       .count = static_cast<Index>(mean_residual_.extent(0)),
                       .h = mean_residual_.data(),
                       .mean = owed_ ? owed_->last : comm::LastMean{},
                       .share = owed_ ? owed_->share : 0,
                       .ratios = ratios,
                       .rate = static_cast<float>(rate),
                       .parameters = parameters.data(),
                       .to = point_.data()};
  GradientCheck const* const checked = owed_ ? owed_->gradient_check.data() : nullptr;
  bool const by_root = units.variance != nullptr && units.unify != Unify::element;
  launch<"bellwether::optim::gradient_point">(
      bound_team_policy<3>(exec, table.count()), KOKKOS_LAMBDA(Team const& team) {
        Block const block = blocks[team.league_rank()];
        bool const follows = checked != nullptr && !checked->skip;
        if (follows && by_root)
          pass.over<true, true>(team, block);
        else if (follows)
          pass.over<true, false>(team, block);
        else if (by_root)
          pass.over<false, true>(team, block);
        else
          pass.over<false, false>(team, block);
      });
  owed_.reset();
  return point_.data();
}

void StepAhead::visit_state(StateVisitor& visit) {
  if (!visit.has(state_name)) return;  // the run that wrote the state had no step-ahead
  visit.array(held(state_name, first_, point_.count()), {mean_residual_.data(), mean_residual_.extent(0)});
}

void StepAhead::drop_state(StateVisitor& visit) { visit.drop(state_name); }

std::int64_t StepAhead::predicted_bytes(Index elements, Index count) {
  return (elements + count) * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace bellwether::optim
