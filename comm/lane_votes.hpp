// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/signs.hpp"

#include <cstdint>

namespace bellwether::comm {

/// The word whose bit of every lane is vote(lane), for each of the 32 lanes of a thread's vector, which a policy like
/// block_policy() makes so long. vote is called once a lane, by the lane itself where lanes are threads, and the word
/// is given to all of them.
template <class Team, class Vote>
KOKKOS_INLINE_FUNCTION std::uint32_t word_of_lanes(Team const& team, Vote const& vote) {
#if defined(__CUDA_ARCH__)
  // The lanes are one warp, of which all threads come by: a ballot is one instruction, a reduction five exchanges.
  static_cast<void>(team);
  return __brev(__ballot_sync(~0u, vote(static_cast<int>(threadIdx.x))));
#else
  std::uint32_t word = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, static_cast<int>(word_elements)),
      [&](int const lane, std::uint32_t& bits) { bits |= vote(lane) ? lane_bit(lane) : 0u; },
      Kokkos::BOr<std::uint32_t>(word));
  return word;
#endif
}

}  // namespace bellwether::comm
