// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compiler.hpp"
#include "core/device/team_sum.hpp"
#include "core/simd/device_math.hpp"

#include <Kokkos_Macros.hpp>

#include <cstdint>
#include <type_traits>

namespace bellwether {

/// Neighbouring elements that a device thread reads or writes with one access, aligned to their total size. may_alias:
/// the words may alias elements of any type.
template <class T, int count>
struct [[gnu::may_alias]] alignas(count * sizeof(T)) Pack {
  static_assert(count * sizeof(T) <= 16 && count * sizeof(T) % 4 == 0);
  std::uint32_t words[count * sizeof(T) / 4];
};

/// True if kernels of a space have a path with packs: float on devices. Rows of double are for tests only.
template <class Real, class Space>
inline constexpr bool has_packs = !TeamShape<Space>::host && std::is_same_v<Real, float>;

/// Number of elements per access of 16 bytes.
template <class T>
inline constexpr int widest_pack = static_cast<int>(16 / sizeof(T));

namespace detail {

template <int count>
KOKKOS_INLINE_FUNCTION void unpack(Pack<float, count> const& pack, float* to) {
  __builtin_memcpy(to, pack.words, sizeof pack.words);
}
template <int count>
KOKKOS_INLINE_FUNCTION void unpack(Pack<bf16, count> const& pack, float* to) {
  BELLWETHER_UNROLL
  for (int i = 0; i < count; i += 2) {
    to[i] = device_math::low_of(pack.words[i / 2]);
    to[i + 1] = device_math::high_of(pack.words[i / 2]);
  }
}
template <int count>
KOKKOS_INLINE_FUNCTION void fill(Pack<float, count>& pack, float const* from) {
  __builtin_memcpy(pack.words, from, sizeof pack.words);
}
/// Rounds each number.
template <int count>
KOKKOS_INLINE_FUNCTION void fill(Pack<bf16, count>& pack, float const* from) {
  BELLWETHER_UNROLL
  for (int i = 0; i < count; i += 2) pack.words[i / 2] = device_math::bf16_pair(from[i], from[i + 1]);
}

}  // namespace detail

/// `count` neighbouring elements in storage format, in as few packs as possible: holds data that is read ahead.
template <class T, int count>
struct PackedRun {
  static constexpr int of_pack = count < widest_pack<T> ? count : widest_pack<T>, packs = count / of_pack;
  static_assert(packs * of_pack == count);

  KOKKOS_INLINE_FUNCTION void read(T const* from) {
    BELLWETHER_UNROLL
    for (int i = 0; i < packs; ++i) pack[i] = *reinterpret_cast<Pack<T, of_pack> const*>(from + i * of_pack);
  }
  KOKKOS_INLINE_FUNCTION void unpack(float (&to)[count]) const {
    BELLWETHER_UNROLL
    for (int i = 0; i < packs; ++i) detail::unpack(pack[i], to + i * of_pack);
  }

  Pack<T, of_pack> pack[packs];
};

template <class T, int count>
KOKKOS_INLINE_FUNCTION void load(T const* from, float (&to)[count]) {
  PackedRun<T, count> run;
  run.read(from);
  run.unpack(to);
}
/// Reads elements [k, k + count) below `end`; the others become `absent`.
template <int count>
KOKKOS_INLINE_FUNCTION void load_before(Index end, float absent, float const* from, Index k, float (&to)[count]) {
  if (k + count <= end) {
    load(from + k, to);
  } else {
    BELLWETHER_UNROLL
    for (int i = 0; i < count; ++i) to[i] = k + i < end ? from[k + i] : absent;
  }
}
/// Stores `count` elements, rounded to T.
template <class T, int count>
KOKKOS_INLINE_FUNCTION void store(T* to, float const (&from)[count]) {
  using Run = PackedRun<T, count>;
  BELLWETHER_UNROLL
  for (int i = 0; i < Run::packs; ++i) {
    Pack<T, Run::of_pack> pack;
    detail::fill(pack, from + i * Run::of_pack);
    device_math::store_words(to + i * Run::of_pack, pack.words);
  }
}

/// Rounds values in place as storing them would.
template <int count>
KOKKOS_INLINE_FUNCTION void round_to(float const*, float (&)[count]) {}
template <int count>
KOKKOS_INLINE_FUNCTION void round_to(bf16 const*, float (&values)[count]) {
  BELLWETHER_UNROLL
  for (int i = 0; i < count; i += 2) {
    std::uint32_t const pair = device_math::bf16_pair(values[i], values[i + 1]);
    values[i] = device_math::low_of(pair);
    values[i + 1] = device_math::high_of(pair);
  }
}

/// Returns true if all pointers are aligned for packs of runs of `count`; null pointers are.
template <int count, class... T>
bool begin_packs(T const*... at) {
  return ((reinterpret_cast<std::uintptr_t>(at) % sizeof(Pack<T, PackedRun<T, count>::of_pack>) == 0) && ...);
}

}  // namespace bellwether
