// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/optim/look_ahead.hpp"

#include "core/team_sum.hpp"

namespace bellwether::optim {
namespace {

constexpr auto state_name = "held_back";

/// 32 neighbours of f.
struct FollowRun {
  KOKKOS_INLINE_FUNCTION void operator()(int lane) const { f[lane] = beta1 * f[lane] + share1 * residual(lane); }

  comm::ResidualRun residual;
  float beta1, share1;
  float* f;
};

/// 32 neighbours of the point. by_root: f is to be divided by roots of the variance.
template <bool by_root>
struct PointRun {
  KOKKOS_INLINE_FUNCTION void operator()(int lane) const {
    float left = f[lane];
    if constexpr (by_root) left /= growth * Kokkos::sqrt(variance[lane]) + epsilon;
    to[lane] = parameters[lane] - factor * left;
  }

  float factor, growth, epsilon;
  float const *f, *variance, *parameters;
  float* to;
};

struct PointPass {
  template <bool by_root, class Team>
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
    team_for_runs<Exec>(team, from, last, [=, *this](Index k, int) {
      return PointRun<by_root>{
          factor,         growth, units.epsilon, f + (k - first), by_root ? units.variance + k : nullptr,
          parameters + k, to + k};
    });
    team_for<Exec>(team, last, end, copy);
  }

  Units units;
  Index first, count;
  float const *f, *ratios;
  float rate;
  float const* parameters;
  float* to;
};

}  // namespace

LookAhead::LookAhead(ParameterLayout const& layout, Index first, Index count)
    : first_(first),
      held_back_("bellwether::optim::held_back", static_cast<std::size_t>(count)),
      point_(layout, "bellwether::optim::gradient_point") {}

void LookAhead::follow(Exec const& exec, comm::LastMean const& last, float beta1, Vec<Verdict> const& verdict) {
  using Team = Kokkos::TeamPolicy<Exec>::member_type;
  static std::string const label = "bellwether::optim::follow_residuals";
  Index const count = last.count;
  Verdict const* const judged = verdict.data();
  float* const f = held_back_.data();
  Kokkos::parallel_for(
      label, team_policy(exec, (count + reduce_block - 1) / reduce_block), KOKKOS_LAMBDA(Team const& team) {
        if (judged->skip) return;
        Index const first = Index{team.league_rank()} * reduce_block;
        team_for_runs<Exec>(team, first, Kokkos::min(count, first + reduce_block), [&](Index k, int many) {
          return FollowRun{last.residuals(k, many), beta1, 1 - beta1, f + k};
        });
      });
}

float const* LookAhead::point(Exec const& exec, BlockTable<Exec> const& table, Units const& units, float const* ratios,
                              double rate, Arena<> const& parameters) {
  using Team = Kokkos::TeamPolicy<Exec>::member_type;
  static std::string const label = "bellwether::optim::gradient_point";
  Block const* const blocks = table.blocks().data();
  PointPass const pass{units,
                       first_,
                       static_cast<Index>(held_back_.extent(0)),
                       held_back_.data(),
                       ratios,
                       static_cast<float>(rate),
                       parameters.data(),
                       point_.data()};
  bool const by_root = units.variance != nullptr && units.unify != Unify::element;
  Kokkos::parallel_for(
      label, team_policy(exec, table.count()), KOKKOS_LAMBDA(Team const& team) {
        Block const block = blocks[team.league_rank()];
        if (by_root)
          pass.over<true>(team, block);
        else
          pass.over<false>(team, block);
      });
  return point_.data();
}

void LookAhead::visit_state(StateVisitor& visit) {
  if (!visit.has(state_name)) return;  // was not looked ahead then
  visit.held(state_name, {held_back_.data(), held_back_.extent(0)}, first_, point_.count());
}

void LookAhead::drop_state(StateVisitor& visit) { visit.drop(state_name); }

std::int64_t LookAhead::predicted_bytes(Index elements, Index count) {
  return (elements + count) * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace bellwether::optim
