// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/layers/cross_entropy.hpp"

#include "model/layers/cross_entropy_body.hpp"

namespace bellwether::model {
namespace {

template <class Space>
void add_by_team(char const* label, Space const& exec, Index count, double const* values, double* total) {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  Kokkos::parallel_for(
      label, team_policy(exec, 1), KOKKOS_LAMBDA(Team const& team) {
        auto const sum = team_sum<1, Space>(team, 0, count, [=](Index k) { return Sums<1>{{values[k]}}; });
        Kokkos::single(Kokkos::PerTeam(team), [&] { *total += sum.value[0]; });
      });
}

}  // namespace

template <class Real, class Stored, class Space>
void cross_entropy(Space const& exec, CrossEntropy<Real, Stored> const& p) {
  for_each_row("bellwether::model::cross_entropy", exec, p.rows, p.classes,
               CrossEntropyRow<Real, Stored>{p.classes, p.stride, p.bias, p.labels, p.scale, p.logits, p.dlogits,
                                             p.loss, p.correct});
}

template <class Space>
void add_in_order(Space const& exec, Index count, double const* values, double* total) {
  constexpr char const* label = "bellwether::model::add_in_order";
  if constexpr (TeamShape<Space>::host) {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, 1), KOKKOS_LAMBDA(Index) {
          double sum = *total;
          for (Index k = 0; k < count; ++k) sum += values[k];
          *total = sum;
        });
  } else {
    add_by_team(label, exec, count, values, total);
  }
}

#define BELLWETHER_CROSS_ENTROPY_OF(SPACE, REAL, STORED) \
  template void cross_entropy(SPACE const&, CrossEntropy<REAL, STORED> const&);
#define BELLWETHER_CROSS_ENTROPY(SPACE)              \
  BELLWETHER_CROSS_ENTROPY_OF(SPACE, float, float)   \
  BELLWETHER_CROSS_ENTROPY_OF(SPACE, double, double) \
  BELLWETHER_CROSS_ENTROPY_OF(SPACE, float, bf16)    \
  template void add_in_order(SPACE const&, Index, double const*, double*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_CROSS_ENTROPY)

}  // namespace bellwether::model
