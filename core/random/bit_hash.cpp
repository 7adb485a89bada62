// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/random/bit_hash.hpp"

#include "core/random/random.hpp"
#include "core/simd/bits.hpp"
#include "core/types.hpp"

namespace bellwether {

template <class Space>
std::vector<std::uint64_t> bit_hashes(Space const& exec, float const* values, std::span<Index const> ends) {
  using Sum = Kokkos::View<std::uint64_t, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Vec<std::uint64_t, Space> const sums("bellwether::core::bit_hashes", ends.size());
  Index first = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    Kokkos::parallel_reduce(
        "bellwether::core::bit_hashes", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec, first, ends[i]),
        KOKKOS_LAMBDA(Index k, std::uint64_t & sum) {
          sum += mix64(static_cast<std::uint64_t>(k - first) << 32 | to_bits(values[k]));
        },
        Sum(sums.data() + i));
    first = ends[i];
  }
  std::vector<std::uint64_t> hashes(ends.size());
  Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const to(hashes.data(),
                                                                                                    hashes.size());
  Kokkos::deep_copy(exec, to, sums);
  exec.fence("bellwether::core::bit_hashes on the host");
  return hashes;
}

#define BELLWETHER_INSTANTIATE(Space) \
  template std::vector<std::uint64_t> bit_hashes<Space>(Space const&, float const*, std::span<Index const>);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether
