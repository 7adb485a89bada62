// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device_math.hpp"
#include "core/team_sum.hpp"
#include "core/unroll.hpp"

#include <Kokkos_Macros.hpp>

#include <cstdint>
#include <type_traits>

namespace bellwether {

/// Neighbours in memory that a thread of a device reads and writes with one access. Their first lies at a multiple of
/// their size. What else is known of their type says nothing about words.
template <class T, int count>
struct [[gnu::may_alias]] alignas(count * sizeof(T)) Pack {
  static_assert(count * sizeof(T) <= 16 && count * sizeof(T) % 4 == 0);
  std::uint32_t words[count * sizeof(T) / 4];
};

/// Whether kernels of a space have ways by packs, which are for floats: devices, on which rows in double are for tests.
template <class Real, class Space>
inline constexpr bool has_packs = !TeamShape<Space>::host && std::is_same_v<Real, float>;

/// How many of them one access takes.
template <class T>
inline constexpr int widest_pack = static_cast<int>(16 / sizeof(T));

template <int count>
KOKKOS_INLINE_FUNCTION void load(float const* from, float (&to)[count]) {
  auto const pack = *reinterpret_cast<Pack<float, count> const*>(from);
  __builtin_memcpy(to, pack.words, sizeof to);
}
template <int count>
KOKKOS_INLINE_FUNCTION void load(bf16 const* from, float (&to)[count]) {
  auto const pack = *reinterpret_cast<Pack<bf16, count> const*>(from);
  BELLWETHER_UNROLL
  for (int i = 0; i < count; i += 2) {
    to[i] = device_math::low_of(pack.words[i / 2]);
    to[i + 1] = device_math::high_of(pack.words[i / 2]);
  }
}
template <int count>
KOKKOS_INLINE_FUNCTION void store(float* to, float const (&from)[count]) {
  Pack<float, count> pack;
  __builtin_memcpy(pack.words, from, sizeof from);
  *reinterpret_cast<Pack<float, count>*>(to) = pack;
}
/// Rounds each.
template <int count>
KOKKOS_INLINE_FUNCTION void store(bf16* to, float const (&from)[count]) {
  Pack<bf16, count> pack;
  BELLWETHER_UNROLL
  for (int i = 0; i < count; i += 2) pack.words[i / 2] = device_math::bf16_pair(from[i], from[i + 1]);
  *reinterpret_cast<Pack<bf16, count>*>(to) = pack;
}

/// Neighbours as they are stored.
KOKKOS_INLINE_FUNCTION void round_to(float const*, float (&)[2]) {}
KOKKOS_INLINE_FUNCTION void round_to(bf16 const*, float (&values)[2]) {
  std::uint32_t const pair = device_math::bf16_pair(values[0], values[1]);
  values[0] = device_math::low_of(pair);
  values[1] = device_math::high_of(pair);
}

/// Whether all of these begin where packs of `count` may; null ones do.
template <int count, class... T>
bool begin_packs(T const*... at) {
  return ((reinterpret_cast<std::uintptr_t>(at) % (count * sizeof(T)) == 0) && ...);
}

}  // namespace bellwether
