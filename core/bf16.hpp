// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace bellwether {

/// The upper half of a float: 8 exponent bits, 7 mantissa bits. Two bytes on every back end, which Kokkos' own type is
/// not without a device.
struct bf16 {
  std::uint16_t bits = 0;
};
static_assert(sizeof(bf16) == 2);

/// Round to nearest, ties to even. Beyond the largest bf16 the result is infinite, as in a float conversion; a NaN
/// stays a NaN of its sign (rounding its bits could carry into an infinity).
KOKKOS_INLINE_FUNCTION bf16 to_bf16(float value) {
  auto const bits = Kokkos::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16) | 0x0040u)};
  std::uint32_t const tie_to_even = 0x7fffu + ((bits >> 16) & 1u);
  return {static_cast<std::uint16_t>((bits + tie_to_even) >> 16)};
}

KOKKOS_INLINE_FUNCTION float to_float(bf16 value) {
  return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

}  // namespace bellwether
