// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

namespace bellwether {

/// Elements per block. Sums of floats are formed within each block in double, then over blocks in order. They depend
/// only on the problem, not on the number of threads.
inline constexpr Index reduce_block = 4096;

/// Returns the sum of f(k) over [first, last), in a fixed order, on the host. f: KOKKOS_FUNCTION double(Index).
template <class Space, class F>
double ordered_sum(Space const& exec, char const* label, Index first, Index last, F const& f) {
  Index const blocks = (last - first + reduce_block - 1) / reduce_block;
  if (blocks <= 0) return 0;
  Vec<double, Space> partial(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "bellwether::core::reduce_partial"),
                             static_cast<std::size_t>(blocks));
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, 0, blocks), KOKKOS_LAMBDA(Index block) {
        Index const begin = first + block * reduce_block;
        Index const end = Kokkos::min(last, begin + reduce_block);
        double sum = 0;
        for (Index k = begin; k < end; ++k) sum += f(k);
        partial(block) = sum;
      });
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), partial);
  double sum = 0;
  for (Index block = 0; block < blocks; ++block) sum += host(block);
  return sum;
}

}  // namespace bellwether
