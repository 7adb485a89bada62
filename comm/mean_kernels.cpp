// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/mean_kernels.hpp"

namespace bellwether::comm {
namespace {

template <class Space>
Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> elements(Space const& exec, Index count) {
  return {exec, 0, count};
}

}  // namespace

template <class T, class Space>
void mean_in_rank_order(Space const& exec, Index count, int ranks, T const* chunks, T* mean) {
  Kokkos::parallel_for(
      "bellwether::comm::mean_in_rank_order", elements(exec, count),
      KOKKOS_LAMBDA(Index k) { mean[k] = T(rank_order_mean(chunks, count, ranks, k)); });
}

template <class Space>
void divide_by_ranks(Space const& exec, Index count, int ranks, float* values) {
  Kokkos::parallel_for(
      "bellwether::comm::divide_by_ranks", elements(exec, count),
      KOKKOS_LAMBDA(Index k) { values[k] /= static_cast<float>(ranks); });
}

#define BELLWETHER_INSTANTIATE(Space)                                                             \
  template void mean_in_rank_order<float, Space>(Space const&, Index, int, float const*, float*); \
  template void mean_in_rank_order<bf16, Space>(Space const&, Index, int, bf16 const*, bf16*);    \
  template void divide_by_ranks<Space>(Space const&, Index, int, float*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::comm
