// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/node_kernels.hpp"

namespace bellwether::comm {
namespace {

template <class Space>
Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> numbers(Space const& exec, Index count) {
  return {exec, 0, count};
}

}  // namespace

template <class Space>
void pack_slice(Space const& exec, Index words, Index parts, Index const* part_first, Decoded const& slice,
                std::uint32_t* message) {
  static std::string const label = "bellwether::comm::pack_slice";
  Decoded const decoded = slice;
  Kokkos::parallel_for(
      label, numbers(exec, words + parts), KOKKOS_LAMBDA(Index at) {
        message[at] =
            at < words ? decoded.signs(at) : Kokkos::bit_cast<std::uint32_t>(decoded.magnitude(part_first[at - words]));
      });
}

template <class Space>
void sign_words(Space const& exec, Index count, float const* values, std::uint32_t const* live, std::uint32_t* signs) {
  static std::string const label = "bellwether::comm::sign_words";
  Kokkos::parallel_for(
      label, numbers(exec, (count + word_elements - 1) / word_elements), KOKKOS_LAMBDA(Index w) {
        std::uint32_t word = 0;
        int const lanes = static_cast<int>(Kokkos::min(word_elements, count - w * word_elements));
        for (int lane = 0; lane < lanes; ++lane)
          word |= positive(values[w * word_elements + lane]) ? lane_bit(lane) : 0u;
        signs[w] = word & live[w];
      });
}

#define BELLWETHER_INSTANTIATE(Space)                                                                        \
  template void pack_slice<Space>(Space const&, Index, Index, Index const*, Decoded const&, std::uint32_t*); \
  template void sign_words<Space>(Space const&, Index, float const*, std::uint32_t const*, std::uint32_t*);
BELLWETHER_FOR_EACH_SPACE(BELLWETHER_INSTANTIATE)
#undef BELLWETHER_INSTANTIATE

}  // namespace bellwether::comm
