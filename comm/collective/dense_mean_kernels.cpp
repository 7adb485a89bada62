// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/collective/dense_mean_kernels.hpp"

#include "core/device/launch.hpp"
#include "core/device/team_sum.hpp"

namespace bellwether::comm {
namespace {

constexpr Index block_elements = 4096;
constexpr int run_elements = 64;

/// rank_order_mean() of `run_elements` neighbours. The constant loop length lets the compiler vectorise.
template <class T>
KOKKOS_INLINE_FUNCTION void mean_of_run(T const* chunks, Index count, int ranks, T* mean) {
  float sums[run_elements];
  for (int lane = 0; lane < run_elements; ++lane) sums[lane] = chunks[lane];
  for (int from = 1; from < ranks; ++from) {
    T const* const chunk = chunks + from * count;
    for (int lane = 0; lane < run_elements; ++lane) sums[lane] += chunk[lane];
  }
  auto const divisor = static_cast<float>(ranks);
  for (int lane = 0; lane < run_elements; ++lane) mean[lane] = T(sums[lane] / divisor);
}

/// A chunk of the vector from each rank, `count` elements each, one after another.
template <class T>
struct Chunks {
  T const* at;
  Index count;
  int ranks;
};

template <class Space, class Team, class T>
KOKKOS_INLINE_FUNCTION void mean_of_block(Team const& team, Index first, Index last, Chunks<T> const& chunks, T* mean) {
  T const* const at = chunks.at;
  Index const count = chunks.count;
  int const ranks = chunks.ranks;
  if constexpr (TeamShape<Space>::host)
    for (; first + run_elements <= last; first += run_elements) mean_of_run(at + first, count, ranks, mean + first);
  team_for<Space>(
      team, first, last, [=](Index k) { return rank_order_mean(at, count, ranks, k); },
      [=](Index k, float value) { mean[k] = T(value); });
}

template <class Space>
Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> elements(Space const& exec, Index count) {
  return {exec, 0, count};
}

}  // namespace

template <class T, class Space>
void mean_in_rank_order(Space const& exec, Index count, int ranks, T const* chunks, T* mean) {
  if (count == 0) return;
  launch<"bellwether::comm::mean_in_rank_order">(
      team_policy(exec, (count + block_elements - 1) / block_elements),
      KOKKOS_LAMBDA(typename Kokkos::TeamPolicy<Space>::member_type const& team) {
        Index const first = team.league_rank() * block_elements;
        mean_of_block<Space>(team, first, Kokkos::min(first + block_elements, count), Chunks<T>{chunks, count, ranks},
                             mean);
      });
}

template <class Space>
void divide_by_ranks(Space const& exec, Index count, int ranks, float* values) {
  launch<"bellwether::comm::divide_by_ranks">(
      elements(exec, count), KOKKOS_LAMBDA(Index k) { values[k] /= static_cast<float>(ranks); });
}

#define BELLWETHER_INSTANTIATE(Space)                                                             \
  template void mean_in_rank_order<float, Space>(Space const&, Index, int, float const*, float*); \
  template void mean_in_rank_order<bf16, Space>(Space const&, Index, int, bf16 const*, bf16*);    \
  template void divide_by_ranks<Space>(Space const&, Index, int, float*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::comm
