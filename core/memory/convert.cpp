// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/convert.hpp"

#include "core/device/team_sum.hpp"
#include "core/simd/pack.hpp"

#include <algorithm>

namespace bellwether {
namespace {

/// Converts neighbours with one access each way; the remainder one by one.
template <int own, class From, class To>
struct ConvertPacks {
  KOKKOS_INLINE_FUNCTION void operator()(Index pack) const {
    Index const first = pack * own;
    if (first + own <= count) {
      float values[own];
      load(from + first, values);
      store(to + first, values);
    } else {
      for (Index k = first; k < count; ++k) to[k] = To(from[k]);
    }
  }

  Index count;
  From const* from;
  To* to;
};

}  // namespace

template <class From, class To, class Space>
void convert(char const* label, Space const& exec, Index count, From const* from, To* to) {
  constexpr int own = std::min(widest_pack<From>, widest_pack<To>);
  if constexpr (!TeamShape<Space>::host)
    if (begin_packs<own>(from) && begin_packs<own>(to)) {
      Kokkos::parallel_for(label,
                           Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, (count + own - 1) / own),
                           ConvertPacks<own, From, To>{count, from, to});
      return;
    }
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, count),
      KOKKOS_LAMBDA(Index k) { to[k] = To(from[k]); });
}

#define BELLWETHER_CONVERT(SPACE)                                               \
  template void convert(char const*, SPACE const&, Index, float const*, bf16*); \
  template void convert(char const*, SPACE const&, Index, bf16 const*, float*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_CONVERT)

}  // namespace bellwether
