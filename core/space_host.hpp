// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

/// The functions of core/space.hpp in plain C++ and Kokkos: for hosts, and for devices without a file of their own.
namespace bellwether::native {

inline constexpr int lanes = 32;  ///< of a thread with vector lanes: a warp

/// Branches on the CPU's instructions, not on the space: without FMA, fmaf() would be a slow call.
KOKKOS_INLINE_FUNCTION float multiply_add(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
KOKKOS_INLINE_FUNCTION float rounded_product(float a, float b) { return multiply_add(a, b, -0.0f); }
/// Half: a 16-bit float that converts from float with rounding.
template <class Half>
KOKKOS_INLINE_FUNCTION std::uint32_t rounded_pair(float low, float high) {
  return static_cast<std::uint32_t>(Half(low).bits) | static_cast<std::uint32_t>(Half(high).bits) << 16;
}
template <int count>
KOKKOS_INLINE_FUNCTION void store_words(void* to, std::uint32_t const (&words)[count]) {
  __builtin_memcpy(to, words, sizeof words);
}
KOKKOS_INLINE_FUNCTION float reciprocal(float x) { return 1.0f / x; }
KOKKOS_INLINE_FUNCTION float quotient(float a, float b) { return a / b; }
KOKKOS_INLINE_FUNCTION float root(float x) { return Kokkos::sqrt(x); }
KOKKOS_INLINE_FUNCTION float inverse_root(float x) { return 1.0f / Kokkos::sqrt(x); }
KOKKOS_INLINE_FUNCTION float power_of_two(float x) { return Kokkos::exp2(x); }

/// Range reduction by ln 2 in two parts, Taylor polynomial of degree 7.
KOKKOS_INLINE_FUNCTION float exp(float x) {
  x = -87.0f > x ? -87.0f : x;
  x = 88.0f < x ? 88.0f : x;
  constexpr float shifter = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  float const shifted = x * 1.44269504f + shifter;
  float const n = shifted - shifter;
  float const r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // The lowest bits of `shifted` are n. Move them to the exponent, which has a bias of 127.
  return p * Kokkos::bit_cast<float>((Kokkos::bit_cast<std::uint32_t>(shifted) << 23) + (127u << 23));
}
KOKKOS_INLINE_FUNCTION float gauss(float /*x*/, float z) { return exp(-z * z); }

template <class Team, class Body>
KOKKOS_INLINE_FUNCTION void each_lane(Team const& team, Body const& body) {
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](int const lane) { body(lane); });
}
template <class Team, class Body>
KOKKOS_INLINE_FUNCTION void once(Team const& team, Body const& body) {
  Kokkos::single(Kokkos::PerThread(team), body);
}
template <int here, class Team>
KOKKOS_INLINE_FUNCTION std::uint32_t word_of_lane(Team const& team, std::uint32_t const (&words)[here], int from) {
  std::uint32_t word = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, lanes),
      [&](int const lane, std::uint32_t& all) { all |= lane == from ? words[here == 1 ? 0 : lane] : 0u; },
      Kokkos::BOr<std::uint32_t>(word));
  return word;
}
template <class Team, class Vote>
KOKKOS_INLINE_FUNCTION std::uint32_t ballot(Team const& team, Vote const& vote) {
  std::uint32_t word = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, lanes),
      [&](int const lane, std::uint32_t& bits) { bits |= vote(lane) ? std::uint32_t{1} << lane : 0u; },
      Kokkos::BOr<std::uint32_t>(word));
  return word;
}
template <class Team, class Part>
KOKKOS_INLINE_FUNCTION float sum_of_lanes(Team const& team, Part const& part) {
  float total = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, lanes), [&](int const lane, float& sum) { sum += part(lane); }, total);
  return total;
}

}  // namespace bellwether::native
