// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>

// Vectors of GCC and Clang, where there are registers enough for all lanes.
#if defined(__GNUC__) && defined(__AVX512F__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define BELLWETHER_VECTOR_SUMS
#endif

namespace bellwether {

/// Sums of z^2 and |z| over runs of 32 numbers that a host's thread walks, one for each of the 32 lanes.
class LaneSums {
 public:
  static constexpr int lanes = 32;

  /// z: (32), 0 where there is no element.
  KOKKOS_INLINE_FUNCTION void add(float const* z) {
#if defined(BELLWETHER_VECTOR_SUMS)
    // Sums stay in registers from run to run; in arrays of numbers they would go through memory with each.
    for (int part = 0; part < parts; ++part) {
      Doubles wide{};
      for (int i = 0; i < width; ++i) wide[i] = static_cast<double>(z[width * part + i]);
      squares_[part] += wide * wide;
      magnitudes_[part] += Kokkos::bit_cast<Doubles>(Kokkos::bit_cast<Bits>(wide) & 0x7fffffffffffffffu);
    }
#else
    for (int lane = 0; lane < lanes; ++lane) {
      double const wide = static_cast<double>(z[lane]);
      squares_[lane] += wide * wide;
      magnitudes_[lane] += Kokkos::abs(wide);
    }
#endif
  }
  KOKKOS_INLINE_FUNCTION double squares() const { return total(squares_); }
  KOKKOS_INLINE_FUNCTION double magnitudes() const { return total(magnitudes_); }

 private:
  /// The upper half of lanes is added to the lower one until one is left.
  template <class ByLane>
  KOKKOS_INLINE_FUNCTION static double total(ByLane const& sums) {
    double lane[lanes];
    static_assert(sizeof sums == sizeof lane);
    std::memcpy(lane, sums, sizeof lane);
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
    return lane[0];
  }

#if defined(BELLWETHER_VECTOR_SUMS)
  static constexpr int width = 8, parts = lanes / width;
  using Doubles = double __attribute__((vector_size(sizeof(double) * width)));
  using Bits = std::uint64_t __attribute__((vector_size(sizeof(double) * width)));
  Doubles squares_[parts] = {};
  Doubles magnitudes_[parts] = {};
#else
  alignas(64) double squares_[lanes] = {};
  alignas(64) double magnitudes_[lanes] = {};
#endif
};

}  // namespace bellwether
