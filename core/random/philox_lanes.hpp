// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compiler.hpp"
#include "core/index.hpp"
#include "core/random/random.hpp"

#include <bit>
#if defined(BELLWETHER_VECTOR_TYPES) && defined(__AVX2__)
#define BELLWETHER_PHILOX_LANES
#include <immintrin.h>
#endif

/// Vectorised philox() for consecutive counters, bitwise equal to the scalar version. Needs a CPU with vector
/// multiplies of 32-bit halves, and GCC or Clang vector types. Compilers do not generate these multiplies
/// from the scalar version. The branches are on instructions of the CPU, because its vectors have another width for
/// each.
#if defined(BELLWETHER_PHILOX_LANES)
namespace bellwether::lanes {

#if defined(__AVX512F__)
inline constexpr int width = 8;
#else
inline constexpr int width = 4;
#endif
/// A 32-bit word in the lower half of each lane; the upper half is undefined.
using Halves = std::uint64_t __attribute__((vector_size(8 * width)));

inline Halves product(Halves const& a, Halves const& b) {
#if defined(__AVX512F__)
  return std::bit_cast<Halves>(_mm512_maskz_mul_epu32(0xff, std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
#else
  return std::bit_cast<Halves>(_mm256_mul_epu32(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#endif
}

/// The keys of all rounds, in memory, from where a load instruction can broadcast them.
struct RoundKeys {
  static constexpr int rounds = 10;
  std::uint64_t k0[rounds], k1[rounds];

  explicit RoundKeys(RandomKey key) {
    for (int round = 0; round < rounds; ++round) {
      k0[round] = key.k0;
      k1[round] = key.k1;
      key.k0 += 0x9E3779B9u;
      key.k1 += 0xBB67AE85u;
    }
  }
};

/// Computes bellwether::philox() in each lane.
inline WideCounter<Halves> philox(WideCounter<Halves> const& at, RoundKeys const& keys) {
  Halves c0 = at.x[0], c1 = at.x[1], c2 = at.x[2], c3 = at.x[3];
  for (int round = 0; round < RoundKeys::rounds; ++round) {
    Halves const p0 = product(c0, Halves{} + 0xD2511F53u), p1 = product(c2, Halves{} + 0xCD9E8D57u);
    c0 = (p1 >> 32) ^ c1 ^ (Halves{} + keys.k0[round]);
    c2 = (p0 >> 32) ^ c3 ^ (Halves{} + keys.k1[round]);
    c1 = p1;
    c3 = p0;
  }
  return {{c0, c1, c2, c3}};
}

inline constexpr int counters = 2 * width;  ///< counters per call of draw()

/// drawn[i + p * stride] = word p of philox(counter i) for i < counters. counter_of: returns the
/// counters for a vector of i.
template <class CounterOf>
void draw(RoundKeys const& keys, CounterOf const& counter_of, std::uint32_t* drawn, int stride) {
  Halves even{};
  for (int i = 0; i < width; ++i) even[i] = 2u * static_cast<unsigned>(i);
  auto const at_even = philox(counter_of(even), keys), at_odd = philox(counter_of(even + 1), keys);
  for (int p = 0; p < 4; ++p) {
    Halves const words = (at_even.x[p] & 0xffffffffu) | (at_odd.x[p] << 32);
    __builtin_memcpy(drawn + p * stride, &words, sizeof words);
  }
}

}  // namespace bellwether::lanes
#endif

namespace bellwether {

/// Calls body(i, philox(counter_of(i))) for i in [first, last) in order, on one host thread. `counter_of`: must accept
/// a 64-bit number and a vector of them, and return a WideCounter of the same type.
template <class CounterOf, class Body>
BELLWETHER_FUNCTION void each_draw(RandomKey const& key, Index first, Index last, CounterOf const& counter_of,
                                   Body const& body) {
#if defined(BELLWETHER_PHILOX_LANES)
  constexpr Index counters = lanes::counters;
  lanes::RoundKeys const keys(key);
  std::uint32_t drawn[4 * counters];
  for (Index begin = first; begin < last; begin += counters) {
    lanes::draw(
        keys, [&](lanes::Halves const& lane) { return counter_of(lane + static_cast<std::uint64_t>(begin)); }, drawn,
        lanes::counters);
    for (Index i = 0; i < counters && begin + i < last; ++i)
      body(begin + i, Philox4{{drawn[i], drawn[i + counters], drawn[i + 2 * counters], drawn[i + 3 * counters]}});
  }
#else
  for (Index i = first; i < last; ++i) body(i, philox(counter_of(static_cast<std::uint64_t>(i)), key));
#endif
}

}  // namespace bellwether
