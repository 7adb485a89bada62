// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"

#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>
#include <type_traits>

/// Functions with a dedicated GPU instruction, and equivalents for other targets.
namespace bellwether::device_math {

/// Returns a b + c, rounded once if there is an instruction for it. Use it for a b + c d: otherwise the compiler may
/// fuse either product, and choose differently in different places.
KOKKOS_INLINE_FUNCTION float multiply_add(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

/// Returns a b, rounded, even if it is then added to: prevents the compiler from fusing the two operations.
KOKKOS_INLINE_FUNCTION float rounded_product(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return multiply_add(a, b, -0.0f);
#endif
}

/// Rounds two numbers to nearest, ties to even; the first is in the lower half of the result. A NaN stays a NaN.
KOKKOS_INLINE_FUNCTION std::uint32_t bf16_pair(float low, float high) {
#if defined(__CUDA_ARCH__)
  std::uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
#else
  return static_cast<std::uint32_t>(bf16(low).bits) | static_cast<std::uint32_t>(bf16(high).bits) << 16;
#endif
}

/// Writes one, two or four words with one access. to: aligned to their total size.
template <int count>
KOKKOS_INLINE_FUNCTION void store_words(void* to, std::uint32_t const (&words)[count]) {
#if defined(__CUDA_ARCH__)
  // nvcc often splits the store of a struct, even of a CUDA vector type. It never splits the store of one integer.
  using Whole =
      std::conditional_t<count == 4, unsigned __int128, std::conditional_t<count == 2, std::uint64_t, std::uint32_t>>;
  static_assert(sizeof(Whole) == sizeof words);
  Whole whole = words[count - 1];
  if constexpr (count > 1)
    for (int i = count - 2; i >= 0; --i) whole = whole << 32 | words[i];
  *static_cast<Whole*>(to) = whole;
#else
  __builtin_memcpy(to, words, sizeof words);
#endif
}

/// Return the numbers of a pair.
KOKKOS_INLINE_FUNCTION float low_of(std::uint32_t pair) {
  return bf16::from_bits(static_cast<std::uint16_t>(pair & 0xffffu));
}
KOKKOS_INLINE_FUNCTION float high_of(std::uint32_t pair) {
  return bf16::from_bits(static_cast<std::uint16_t>(pair >> 16));
}

/// Returns 1 / x, accurate to 1 ulp.
KOKKOS_INLINE_FUNCTION float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}

/// Returns a / b for a finite quotient and b > 2^-126; may differ from IEEE rounding in the last bit. Unlike an IEEE
/// division it has no branch for rare cases, so that several divisions overlap. b / b is 1.
KOKKOS_INLINE_FUNCTION float quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  float const inverse = reciprocal(b), near = __fmul_rn(a, inverse);
  return __fmaf_rn(__fmaf_rn(-near, b, a), inverse, near);
#else
  return a / b;
#endif
}

/// Returns sqrt(x), accurate to 1 ulp; on NVIDIA GPUs 0 for x < 2^-126.
KOKKOS_INLINE_FUNCTION float root(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return Kokkos::sqrt(x);
#endif
}

/// Returns 1 / sqrt(x) for x > 0, accurate to 2 ulp.
KOKKOS_INLINE_FUNCTION float inverse_root(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / Kokkos::sqrt(x);
#endif
}

/// Returns 2^x, accurate to 2 ulp; on NVIDIA GPUs 0 for x < -126.
KOKKOS_INLINE_FUNCTION float power_of_two(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return Kokkos::exp2(x);
#endif
}

}  // namespace bellwether::device_math
