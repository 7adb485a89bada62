// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/signs.hpp"
#include "core/lanes.hpp"

#include <cstdint>

namespace bellwether::comm {

/// As ballot(), with the bits as words of signs have them: the first lane's is the highest.
template <class Team, class Vote>
KOKKOS_INLINE_FUNCTION std::uint32_t word_of_lanes(Team const& team, Vote const& vote) {
  std::uint32_t word = ballot(team, vote);
#if defined(__CUDA_ARCH__)
  return __brev(word);
#else
  word = (word >> 16) | (word << 16);
  word = ((word >> 8) & 0x00ff00ffu) | ((word & 0x00ff00ffu) << 8);
  word = ((word >> 4) & 0x0f0f0f0fu) | ((word & 0x0f0f0f0fu) << 4);
  word = ((word >> 2) & 0x33333333u) | ((word & 0x33333333u) << 2);
  return ((word >> 1) & 0x55555555u) | ((word & 0x55555555u) << 1);
#endif
}

}  // namespace bellwether::comm
