// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/space.hpp"

#include <cstdint>

/// Functions with a dedicated GPU instruction, and equivalents for other targets. core/space_*.hpp have the code.
namespace bellwether::device_math {

/// Returns a b + c, rounded once if there is an instruction for it. Use it for a b + c d: otherwise the compiler may
/// fuse either product, and choose differently in different places.
KOKKOS_INLINE_FUNCTION float multiply_add(float a, float b, float c) { return native::multiply_add(a, b, c); }

/// Returns a b, rounded, even if it is then added to: prevents the compiler from fusing the two operations.
KOKKOS_INLINE_FUNCTION float rounded_product(float a, float b) { return native::rounded_product(a, b); }

/// Rounds two numbers to nearest, ties to even; the first is in the lower half of the result. A NaN stays a NaN.
KOKKOS_INLINE_FUNCTION std::uint32_t bf16_pair(float low, float high) { return native::rounded_pair<bf16>(low, high); }

/// Writes one, two or four words with one access. to: aligned to their total size.
template <int count>
KOKKOS_INLINE_FUNCTION void store_words(void* to, std::uint32_t const (&words)[count]) {
  native::store_words(to, words);
}

/// Return the numbers of a pair.
KOKKOS_INLINE_FUNCTION float low_of(std::uint32_t pair) {
  return bf16::from_bits(static_cast<std::uint16_t>(pair & 0xffffu));
}
KOKKOS_INLINE_FUNCTION float high_of(std::uint32_t pair) {
  return bf16::from_bits(static_cast<std::uint16_t>(pair >> 16));
}

/// Returns 1 / x, accurate to 1 ulp.
KOKKOS_INLINE_FUNCTION float reciprocal(float x) { return native::reciprocal(x); }

/// Returns a / b for a finite quotient and b > 2^-126; may differ from IEEE rounding in the last bit. Unlike an IEEE
/// division it has no branch for rare cases, so that several divisions overlap. b / b is 1.
KOKKOS_INLINE_FUNCTION float quotient(float a, float b) { return native::quotient(a, b); }

/// Returns sqrt(x), accurate to 1 ulp; on NVIDIA GPUs 0 for x < 2^-126.
KOKKOS_INLINE_FUNCTION float root(float x) { return native::root(x); }

/// Returns 1 / sqrt(x) for x > 0, accurate to 2 ulp.
KOKKOS_INLINE_FUNCTION float inverse_root(float x) { return native::inverse_root(x); }

/// Returns 2^x, accurate to 2 ulp; on NVIDIA GPUs 0 for x < -126.
KOKKOS_INLINE_FUNCTION float power_of_two(float x) { return native::power_of_two(x); }

}  // namespace bellwether::device_math
