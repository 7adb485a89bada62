// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compiler.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

/// The functions of core/space.hpp with the instructions of NVIDIA GPUs. For the device pass of CUDA sources only. The
/// lanes of a thread are one converged warp.
namespace bellwether::native {

inline constexpr int lanes = 32;  ///< of a thread with vector lanes: a warp

KOKKOS_INLINE_FUNCTION float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
KOKKOS_INLINE_FUNCTION float rounded_product(float a, float b) { return __fmul_rn(a, b); }
/// Half: the storage type of hosts; not needed here.
template <class Half>
KOKKOS_INLINE_FUNCTION std::uint32_t rounded_pair(float low, float high) {
  std::uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
template <int count>
KOKKOS_INLINE_FUNCTION void store_words(void* to, std::uint32_t const (&words)[count]) {
  // nvcc often splits the store of a struct, even of a CUDA vector type. It never splits the store of one integer.
  using Whole =
      std::conditional_t<count == 4, unsigned __int128, std::conditional_t<count == 2, std::uint64_t, std::uint32_t>>;
  static_assert(sizeof(Whole) == sizeof words);
  Whole whole = words[count - 1];
  if constexpr (count > 1)
    for (int i = count - 2; i >= 0; --i) whole = whole << 32 | words[i];
  *static_cast<Whole*>(to) = whole;
}
KOKKOS_INLINE_FUNCTION float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
KOKKOS_INLINE_FUNCTION float quotient(float a, float b) {
  float const inverse = reciprocal(b), near = __fmul_rn(a, inverse);
  return __fmaf_rn(__fmaf_rn(-near, b, a), inverse, near);
}
KOKKOS_INLINE_FUNCTION float root(float x) {
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
KOKKOS_INLINE_FUNCTION float inverse_root(float x) {
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
KOKKOS_INLINE_FUNCTION float power_of_two(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// The power-of-two instruction on x log2 e, corrected for the rounding of that product.
KOKKOS_INLINE_FUNCTION float exp(float x) {
  constexpr float log2_e = 1.44269504f, log2_e_rest = 1.92596299e-8f, ln_2 = 0.693147181f;
  x = 88.0f < x ? 88.0f : x;
  float const exponent = x * log2_e;
  float const power = power_of_two(exponent);
  float const rest = __fmaf_rn(x, log2_e_rest, __fmaf_rn(x, log2_e, -exponent));
  return power == 0 ? 0.0f : __fmaf_rn(power * ln_2, rest, power);
}
/// The relative error grows as the result gets small, but the absolute error is at most 5e-8.
KOKKOS_INLINE_FUNCTION float gauss(float x, float /*z*/) {
  constexpr float half_of_log2_e = 0.72134752f;
  return power_of_two(-half_of_log2_e * x * x);
}

/// A ThreadVectorRange is a loop with a stride unknown to the compiler; arrays indexed in it would go to memory.
template <class Team, class Body>
KOKKOS_INLINE_FUNCTION void each_lane(Team const&, Body const& body) {
  body(static_cast<int>(threadIdx.x));
}
/// A Kokkos::single() would make all lanes wait, in fifty instructions. No other lane needs the result of body().
template <class Team, class Body>
KOKKOS_INLINE_FUNCTION void once(Team const&, Body const& body) {
  if (threadIdx.x == 0) body();
}
template <int here, class Team>
KOKKOS_INLINE_FUNCTION std::uint32_t word_of_lane(Team const&, std::uint32_t const (&words)[here], int from) {
  return __shfl_sync(~0u, words[0], from);
}
/// A ballot is one instruction; a reduction would be five exchanges.
template <class Team, class Vote>
KOKKOS_INLINE_FUNCTION std::uint32_t ballot(Team const&, Vote const& vote) {
  return __ballot_sync(~0u, vote(static_cast<int>(threadIdx.x)));
}
/// In each exchange both partners add the same two numbers, so that all lanes get the same bits.
template <class Team, class Part>
KOKKOS_INLINE_FUNCTION float sum_of_lanes(Team const&, Part const& part) {
  float total = part(static_cast<int>(threadIdx.x));
  BELLWETHER_UNROLL
  for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(~0u, total, apart);
  return total;
}

}  // namespace bellwether::native
