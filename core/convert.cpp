// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/convert.hpp"

namespace bellwether {

template <class From, class To, class Space>
void convert(char const* label, Space const& exec, Index count, From const* from, To* to) {
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, count),
      KOKKOS_LAMBDA(Index k) { to[k] = To(from[k]); });
}

#define BELLWETHER_CONVERT(SPACE)                                               \
  template void convert(char const*, SPACE const&, Index, float const*, bf16*); \
  template void convert(char const*, SPACE const&, Index, bf16 const*, float*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_CONVERT)

}  // namespace bellwether
