// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/signs.hpp"
#include "core/simd/lanes.hpp"
#include "core/simd/pack_access.hpp"

#include <cstdint>

/// Words of signs on devices, where lanes are threads. A lane holds four neighbouring elements, so that one access
/// reads or writes all four; eight lanes form a word. Ballots would require one element per lane.
namespace bellwether::comm {

/// A lane's share of four words of 32 elements.
struct LaneShare {
  static constexpr int elements = InRegisters::count, lanes = static_cast<int>(word_elements) / elements,
                       words = 32 / lanes;

  KOKKOS_INLINE_FUNCTION explicit LaneShare(int lane) : word(lane / lanes), first(lane % lanes * elements) {}
  /// Returns the bits of this lane's elements, the first element in the most significant bit.
  KOKKOS_INLINE_FUNCTION std::uint32_t bits_of(std::uint32_t of_word) const { return of_word << first & 0xf0000000u; }

  int word;   ///< index of the lane's word among the four
  int first;  ///< index of the lane's first element in that word
};

/// Returns the sign bits of a lane's elements, the first element in the most significant bit.
KOKKOS_INLINE_FUNCTION std::uint32_t signs_of(float const (&z)[LaneShare::elements]) {
  std::uint32_t bits = 0;
  BELLWETHER_UNROLL
  for (int e = 0; e < LaneShare::elements; ++e) bits |= positive(z[e]) ? lane_bit(e) : 0u;
  return bits;
}

/// Assembles four words from bits(lane, mine), with the arguments of Lanes, and calls write(w, word) once for each. It
/// calls bits once per lane; where lanes are threads, the lane itself does.
template <class Space, class Team, class Bits, class Write>
KOKKOS_INLINE_FUNCTION void write_words(Team const& team, Bits const& bits, Write const& write) {
#if defined(__CUDA_ARCH__)
  static_cast<void>(team);
  int const lane = static_cast<int>(threadIdx.x);
  LaneShare const share(lane);
  std::uint32_t word = bits(lane, 0) >> share.first;
  BELLWETHER_UNROLL
  for (int apart = 1; apart < LaneShare::lanes; apart *= 2) word |= __shfl_xor_sync(~0u, word, apart);
  if (share.first == 0) write(share.word, word);
#else
  std::uint32_t of_lane[Lanes<Space>::here];
  Lanes<Space>::all(team,
                    [&](int const lane, int const mine) { of_lane[mine] = bits(lane, mine) >> LaneShare(lane).first; });
  for (int w = 0; w < LaneShare::words; ++w) {
    std::uint32_t word = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, Lanes<Space>::count),
        [&](int const lane, std::uint32_t& of_word) {
          of_word |= LaneShare(lane).word == w ? of_lane[Lanes<Space>::mine(lane)] : 0u;
        },
        Kokkos::BOr<std::uint32_t>(word));
    Lanes<Space>::once(team, [&] { write(w, word); });
  }
#endif
}

}  // namespace bellwether::comm
