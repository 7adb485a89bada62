// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compiler.hpp"
#include "core/device/team_sum.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>

// Vector types of GCC and Clang, if the registers hold all lanes. The branches are on an instruction set of the CPU,
// not on a space: only AVX-512 has such registers.
#if defined(BELLWETHER_VECTOR_TYPES) && defined(__AVX512F__)
#define BELLWETHER_VECTOR_SUMS
#endif

namespace bellwether {

namespace detail {

/// Doubles of 32 lanes. They stay in registers if these suffice; array sums go through memory after each run of 32.
class LaneDoubles {
 public:
  static constexpr int lanes = 32;

#if defined(BELLWETHER_VECTOR_SUMS)
  static constexpr int width = 8, parts = lanes / width;
  using Doubles = double __attribute__((vector_size(sizeof(double) * width)));
  using Bits = std::uint64_t __attribute__((vector_size(sizeof(double) * width)));

  KOKKOS_INLINE_FUNCTION static Doubles widened(float const* z, int part) {
    Doubles wide{};
    for (int i = 0; i < width; ++i) wide[i] = static_cast<double>(z[width * part + i]);
    return wide;
  }
  KOKKOS_INLINE_FUNCTION void add(int part, Doubles const& terms) { sums_[part] += terms; }
#else
  KOKKOS_INLINE_FUNCTION void add(int lane, double term) { sums_[lane] += term; }
#endif
  /// Sums the lanes in the order of team_sum().
  KOKKOS_INLINE_FUNCTION double total() const {
    double lane[lanes];
    static_assert(sizeof sums_ == sizeof lane);
    std::memcpy(lane, sums_, sizeof lane);
    return sum_in_halves(lane);
  }

 private:
#if defined(BELLWETHER_VECTOR_SUMS)
  Doubles sums_[parts] = {};
#else
  alignas(64) double sums_[lanes] = {};
#endif
};

}  // namespace detail

/// Sums of z^2 over runs of 32 numbers on one host thread, with a separate sum for each of the 32 lanes.
class LaneSquares {
 public:
  static constexpr int lanes = detail::LaneDoubles::lanes;

  /// z: (32), 0 beyond the end.
  KOKKOS_INLINE_FUNCTION void add(float const* z) {
#if defined(BELLWETHER_VECTOR_SUMS)
    for (int part = 0; part < detail::LaneDoubles::parts; ++part) {
      auto const wide = detail::LaneDoubles::widened(z, part);
      squares_.add(part, wide * wide);
    }
#else
    for (int lane = 0; lane < lanes; ++lane) squares_.add(lane, static_cast<double>(z[lane]) * z[lane]);
#endif
  }
  KOKKOS_INLINE_FUNCTION double squares() const { return squares_.total(); }

 private:
  detail::LaneDoubles squares_;
};

/// Sums of z^2 and of |z|.
class LaneSums {
 public:
  static constexpr int lanes = detail::LaneDoubles::lanes;

  KOKKOS_INLINE_FUNCTION void add(float const* z) {
#if defined(BELLWETHER_VECTOR_SUMS)
    using detail::LaneDoubles;
    for (int part = 0; part < LaneDoubles::parts; ++part) {
      auto const wide = LaneDoubles::widened(z, part);
      squares_.add(part, wide * wide);
      auto const bits = Kokkos::bit_cast<LaneDoubles::Bits>(wide) & 0x7fffffffffffffffu;
      magnitudes_.add(part, Kokkos::bit_cast<LaneDoubles::Doubles>(bits));
    }
#else
    for (int lane = 0; lane < lanes; ++lane) {
      double const wide = static_cast<double>(z[lane]);
      squares_.add(lane, wide * wide);
      magnitudes_.add(lane, Kokkos::abs(wide));
    }
#endif
  }
  KOKKOS_INLINE_FUNCTION double squares() const { return squares_.total(); }
  KOKKOS_INLINE_FUNCTION double magnitudes() const { return magnitudes_.total(); }

 private:
  detail::LaneDoubles squares_, magnitudes_;
};

}  // namespace bellwether
