// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// For functions that run on hosts and devices, in headers that plain sources read, too, which see no Kokkos.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define BELLWETHER_HOST_DEVICE __host__ __device__
#else
#define BELLWETHER_HOST_DEVICE
#endif

namespace bellwether {

/// The upper half of a float: 8 exponent bits, 7 mantissa bits. Two bytes on every back end, which Kokkos' own type is
/// not without a device. A number to store: arithmetic is done in float.
struct bf16 {
  bf16() = default;
  /// Rounds to nearest, ties to even. Beyond the largest bf16 the result is infinite, as in a float conversion; a NaN
  /// stays a NaN of its sign (rounding its bits could carry into an infinity).
  BELLWETHER_HOST_DEVICE explicit bf16(float value) {
    std::uint32_t whole;
    __builtin_memcpy(&whole, &value, sizeof whole);
    std::uint32_t const quiet = whole | 0x00400000u, tie_to_even = whole + 0x7fffu + (whole >> 16 & 1u);
    bits = static_cast<std::uint16_t>(((whole & 0x7fffffffu) > 0x7f800000u ? quiet : tie_to_even) >> 16);
  }
  BELLWETHER_HOST_DEVICE operator float() const {
    std::uint32_t const whole = static_cast<std::uint32_t>(bits) << 16;
    float value;
    __builtin_memcpy(&value, &whole, sizeof value);
    return value;
  }
  BELLWETHER_HOST_DEVICE static bf16 from_bits(std::uint16_t bits) {
    bf16 value;
    value.bits = bits;
    return value;
  }

  std::uint16_t bits;  // as with a float, what it starts as is undefined
};
static_assert(sizeof(bf16) == 2);

}  // namespace bellwether
