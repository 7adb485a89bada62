// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"

#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>
#include <type_traits>

/// What a GPU has an instruction for, and what all else does in its place.
namespace bellwether::device_math {

/// a b + c, rounded once where there is an instruction for it. Of two products a compiler may take either into a sum,
/// in one place this and in another that.
KOKKOS_INLINE_FUNCTION float multiply_add(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

/// a b, rounded also where something is added to it, which a compiler would take into one operation.
KOKKOS_INLINE_FUNCTION float rounded_product(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return multiply_add(a, b, -0.0f);
#endif
}

/// Two numbers rounded to nearest, ties to even, the first in the lower half. What is not a number stays none.
KOKKOS_INLINE_FUNCTION std::uint32_t bf16_pair(float low, float high) {
#if defined(__CUDA_ARCH__)
  std::uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
#else
  return static_cast<std::uint32_t>(bf16(low).bits) | static_cast<std::uint32_t>(bf16(high).bits) << 16;
#endif
}

/// Writes one, two or four words by one access. to: at a multiple of their size.
template <int count>
KOKKOS_INLINE_FUNCTION void store_words(void* to, std::uint32_t const (&words)[count]) {
#if defined(__CUDA_ARCH__)
  // Of a struct's words, be it one of CUDA's vectors, nvcc makes one access at times only; of one number it always
  // does.
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

/// The numbers of a pair.
KOKKOS_INLINE_FUNCTION float low_of(std::uint32_t pair) {
  return bf16::from_bits(static_cast<std::uint16_t>(pair & 0xffffu));
}
KOKKOS_INLINE_FUNCTION float high_of(std::uint32_t pair) {
  return bf16::from_bits(static_cast<std::uint16_t>(pair >> 16));
}

/// 1 / x to 1 ulp.
KOKKOS_INLINE_FUNCTION float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}

/// a / b for a finite quotient and a b above 2^-126, as IEEE rounds it but for a last bit: without the branch to what
/// is rare that a division has, so that several are under way together. b / b is 1.
KOKKOS_INLINE_FUNCTION float quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  float const inverse = reciprocal(b), near = __fmul_rn(a, inverse);
  return __fmaf_rn(__fmaf_rn(-near, b, a), inverse, near);
#else
  return a / b;
#endif
}

/// sqrt(x) to 1 ulp; on NVIDIA's GPUs 0 where x is below 2^-126.
KOKKOS_INLINE_FUNCTION float root(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return Kokkos::sqrt(x);
#endif
}

/// 1 / sqrt(x) to 2 ulp; x above 0.
KOKKOS_INLINE_FUNCTION float inverse_root(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / Kokkos::sqrt(x);
#endif
}

/// 2^x to 2 ulp; on NVIDIA's GPUs 0 where x is below -126.
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
