// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compiler.hpp"

#include <cstdint>

namespace bellwether {

/// Use of a random stream. It is part of the key, so that different uses draw independent numbers.
enum class Purpose : std::uint32_t {
  initialisation = 1,
  order = 2,
  window = 3,
  masking = 4,
  dropout = 5,
  pairs = 6,
  sketch = 7
};

struct Philox4 {
  std::uint32_t x[4];
};

/// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11, section 4.3.
/// A pure function of counter and key without state: results do not depend on threads or ranks.
BELLWETHER_FUNCTION Philox4 philox(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2, std::uint32_t c3,
                                   std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const p0 = std::uint64_t{0xD2511F53u} * c0;
    std::uint64_t const p1 = std::uint64_t{0xCD9E8D57u} * c2;
    std::uint32_t const n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    std::uint32_t const n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// Returns a uniform number in [0, 1) with 24 random bits.
BELLWETHER_FUNCTION float uniform(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

/// A bijection on 64-bit numbers. Every bit of the result depends on every bit of z (the finaliser of splitmix64:
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 17).
BELLWETHER_FUNCTION std::uint64_t mix64(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// Key of a stream: seed of the run and purpose, mixed so that nearby seeds give unrelated keys.
struct RandomKey {
  std::uint32_t k0, k1;
};
BELLWETHER_FUNCTION RandomKey random_key(std::uint64_t seed, Purpose purpose) {
  std::uint64_t const z = mix64(seed + 0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(purpose));
  return {static_cast<std::uint32_t>(z), static_cast<std::uint32_t>(z >> 32)};
}

/// A Philox counter in four 64-bit numbers or vectors of them; the upper halves are ignored.
template <class Number>
struct WideCounter {
  Number x[4];
};
BELLWETHER_FUNCTION Philox4 philox(WideCounter<std::uint64_t> const& at, RandomKey const& key) {
  return philox(static_cast<std::uint32_t>(at.x[0]), static_cast<std::uint32_t>(at.x[1]),
                static_cast<std::uint32_t>(at.x[2]), static_cast<std::uint32_t>(at.x[3]), key.k0, key.k1);
}

/// Sequential random numbers of one stream on the host, for order, pairs and masks. `first` and `second` select it.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t first, std::uint32_t second = 0)
      : key_(random_key(seed, purpose)), first_(first), second_(second) {}
  std::uint32_t bits() {
    if (used_ == 4) {
      block_ = philox(static_cast<std::uint32_t>(first_), static_cast<std::uint32_t>(first_ >> 32), second_, count_++,
                      key_.k0, key_.k1);
      used_ = 0;
    }
    return block_.x[used_++];
  }
  double real() { return bits() * 0x1p-32; }  ///< uniform in [0, 1)
  /// Returns a uniform integer in [0, bound), bound >= 1, without modulo bias (Lemire's multiply-and-reject).
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{bits()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      std::uint32_t const threshold = (0u - bound) % bound;
      while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{bits()} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  RandomKey key_;
  std::uint64_t first_;
  std::uint32_t second_;
  std::uint32_t count_ = 0;
  Philox4 block_{};
  int used_ = 4;
};

}  // namespace bellwether
