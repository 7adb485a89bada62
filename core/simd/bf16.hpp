// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compiler.hpp"

#include <cstdint>

namespace bellwether {

/// The upper half of a float: 8 exponent bits, 7 mantissa bits. Two bytes on every backend, unlike Kokkos' type in host
/// builds. For storage only: arithmetic uses float.
struct bf16 {
  bf16() = default;
  /// Rounds to nearest, ties to even. Values beyond the largest bf16 become infinite, as in a float conversion. A NaN
  /// stays a NaN of the same sign; plain rounding of its bits could carry into infinity.
  BELLWETHER_FUNCTION explicit bf16(float value) {
    std::uint32_t whole;
    __builtin_memcpy(&whole, &value, sizeof whole);
    std::uint32_t const quiet = whole | 0x00400000u, tie_to_even = whole + 0x7fffu + (whole >> 16 & 1u);
    bits = static_cast<std::uint16_t>(((whole & 0x7fffffffu) > 0x7f800000u ? quiet : tie_to_even) >> 16);
  }
  BELLWETHER_FUNCTION operator float() const {
    std::uint32_t const whole = static_cast<std::uint32_t>(bits) << 16;
    float value;
    __builtin_memcpy(&value, &whole, sizeof value);
    return value;
  }
  BELLWETHER_FUNCTION static bf16 from_bits(std::uint16_t bits) {
    bf16 value;
    value.bits = bits;
    return value;
  }

  std::uint16_t bits;  // uninitialised by default, like a float
};
static_assert(sizeof(bf16) == 2);

}  // namespace bellwether
