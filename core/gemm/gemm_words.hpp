// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"
#include "core/simd/bf16.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/// Building blocks of panel products on hosts: vectors of the CPU's width, and the words into which operands are
/// packed. Needs the vector types of GCC and Clang. The branches are on instruction sets of the CPU, not on a space:
/// the functions of one set do not compile for another.
namespace bellwether::product {

#if defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif
/// True if products of floats use panels, too. With 16 lanes they are faster than OpenBLAS; with fewer lanes or under a
/// sanitizer they are slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool floats_by_panels = false;
#else
inline constexpr bool floats_by_panels = lanes == 16;
#endif
using Floats = float __attribute__((vector_size(4 * lanes)));
using Bits = std::uint32_t __attribute__((vector_size(4 * lanes)));
using Halves = std::uint16_t __attribute__((vector_size(2 * lanes)));

template <class Vector, class Element>
Vector load(Element const* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
template <class Vector, class Element>
void store(Vector const& vector, Element* to) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

/// Returns a b + sum, rounded once.
inline Floats fused(Floats const& a, Floats const& b, Floats const& sum) {
#if defined(__AVX512F__)
  return std::bit_cast<Floats>(
      _mm512_fmadd_ps(std::bit_cast<__m512>(a), std::bit_cast<__m512>(b), std::bit_cast<__m512>(sum)));
#elif defined(__AVX2__) && defined(__FMA__)
  return std::bit_cast<Floats>(
      _mm256_fmadd_ps(std::bit_cast<__m256>(a), std::bit_cast<__m256>(b), std::bit_cast<__m256>(sum)));
#else
  Floats result;
  for (int i = 0; i < lanes; ++i) result[i] = __builtin_fmaf(a[i], b[i], sum[i]);
  return result;
#endif
}

/// Loads the first `count` elements, at most a full vector, followed by zeros.
template <class Vector, class Element>
Vector load_part(Element const* from, Index count) {
  constexpr Index whole = sizeof(Vector) / sizeof(Element);
  if (count >= whole) return load<Vector>(from);
  Element part[whole] = {};
  std::copy_n(from, std::max<Index>(count, 0), part);
  return load<Vector>(part);
}
inline Floats floats(float const* from, Index count) { return load_part<Floats>(from, count); }
/// Loads each element into the lower half of a word.
inline Bits halves(bf16 const* from, Index count) {
  return __builtin_convertvector(load_part<Halves>(from, count), Bits);
}
inline Floats floats(bf16 const* from, Index count) { return std::bit_cast<Floats>(halves(from, count) << 16); }
/// Rounds each lane like bf16(float); the result is in the lower half of each word.
inline Bits rounded_halves(Floats const& values) {
  auto const bits = std::bit_cast<Bits>(values);
  Bits const up = bits + 0x7fffu + (bits >> 16 & 1u), quiet = bits | 0x400000u;
  return ((bits & 0x7fffffffu) > 0x7f800000u ? quiet : up) >> 16;
}
inline void store_rounded(Floats const& values, float* to) { store(values, to); }
/// With the CPU's conversion instruction, subnormal results become zero, as in its dot product instruction.
inline void store_rounded(Floats const& values, bf16* to) {
#if defined(__AVX512BF16__)
  store(_mm512_cvtneps_pbh(std::bit_cast<__m512>(values)), to);
#else
  store(__builtin_convertvector(rounded_halves(values), Halves), to);
#endif
}

/// Words that hold one float.
struct FloatWords {
  using Word = float;
  using Vector = Floats;
  static constexpr Index depth = 1;  ///< elements of k per word
  static constexpr Index group = 1;  ///< words of k per instruction

  /// Returns `lanes` consecutive words of one row, in the direction of k; `count` elements exist.
  static Vector along(float const* from, Index count) { return floats(from, count); }
  /// Returns the words of `lanes` columns from `depth` rows of k with distance `ld`. `rows` rows and
  /// `count` columns exist.
  static Vector across(float const* from, Index /*ld*/, Index /*rows*/, Index count) { return along(from, count); }
  static Floats multiply_add(Word a, Vector const& b, Floats const& sum) { return fused(a - Floats{}, b, sum); }
  /// Returns the sum of each word's elements.
  static Floats sums(Vector const& words) { return words; }
};

/// Words that hold one operand rounded to bf16, multiplied as floats: for CPUs without bf16 products.
struct RoundedWords {
  using Word = float;
  using Vector = Floats;
  static constexpr Index depth = 1;  ///< elements of k per word
  static constexpr Index group = 1;  ///< words of k per instruction

  /// Returns `lanes` consecutive words of one row, in the direction of k; `count` elements exist.
  static Vector along(float const* from, Index count) {
    return std::bit_cast<Vector>(rounded_halves(floats(from, count)) << 16);
  }
  static Vector along(bf16 const* from, Index count) { return floats(from, count); }
  /// Returns the words of `lanes` columns from `depth` rows of k with distance `ld`. `rows` rows and
  /// `count` columns exist.
  template <class Element>
  static Vector across(Element const* from, Index /*ld*/, Index /*rows*/, Index count) {
    return along(from, count);
  }
  static Floats multiply_add(Word a, Vector const& b, Floats const& sum) { return fused(a - Floats{}, b, sum); }
  /// Returns the sum of each word's elements.
  static Floats sums(Vector const& words) { return words; }
};

#if defined(__AVX512BF16__)
/// Words that hold two elements of k rounded to bf16, the first in the lower half: the input of AVX-512's dot product.
/// It flushes subnormal operands and results to zero.
struct PairWords {
  using Word = std::uint32_t;
  using Vector = Bits;
  static constexpr Index depth = 2;
  static constexpr Index group = 1;

  static Vector along(float const* from, Index count) {
    return std::bit_cast<Vector>(_mm512_cvtne2ps_pbh(std::bit_cast<__m512>(floats(from + lanes, count - lanes)),
                                                     std::bit_cast<__m512>(floats(from, count))));
  }
  static Vector along(bf16 const* from, Index count) { return load_part<Vector>(from, count); }
  template <class Element>
  static Vector across(Element const* from, Index ld, Index rows, Index count) {
    Vector const first = halves(from, count);
    return rows < 2 ? first : first | halves(from + ld, count) << 16;
  }
  static Floats multiply_add(Word a, Vector const& b, Floats const& sum) {
    auto const pairs = _mm512_set1_epi32(static_cast<int>(a));
    return std::bit_cast<Floats>(
        _mm512_dpbf16_ps(std::bit_cast<__m512>(sum), std::bit_cast<__m512bh>(pairs), std::bit_cast<__m512bh>(b)));
  }
  static Floats sums(Vector const& words) {
    return std::bit_cast<Floats>(words << 16) + std::bit_cast<Floats>(words & 0xffff0000u);
  }

 private:
  static Vector halves(bf16 const* from, Index count) { return product::halves(from, count); }
  static Vector halves(float const* from, Index count) {
    auto const rounded = _mm512_cvtneps_pbh(std::bit_cast<__m512>(floats(from, count)));
    return std::bit_cast<Vector>(_mm512_maskz_cvtepu16_epi32(0xffff, std::bit_cast<__m256i>(rounded)));
  }
};
using CpuWords = PairWords;
#else
using CpuWords = RoundedWords;
#endif

/// Transposes a square of vectors by exchanging halves: first lanes that differ in the lowest bit, then in the next.
template <int bit = 1, class Vector>
void transpose(Vector (&rows)[lanes]) {
  if constexpr (bit < lanes) {
    [&]<int... lane>(std::integer_sequence<int, lane...>) {
      for (int i = 0; i < lanes; ++i) {
        if ((i & bit) != 0) continue;
        Vector const upper = rows[i], lower = rows[i + bit];
        rows[i] = __builtin_shufflevector(upper, lower, ((lane & bit) == 0 ? lane : lane - bit + lanes)...);
        rows[i + bit] = __builtin_shufflevector(upper, lower, ((lane & bit) == 0 ? lane + bit : lane + lanes)...);
      }
    }
    (std::make_integer_sequence<int, lanes>{});
    transpose<2 * bit>(rows);
  }
}

}  // namespace bellwether::product
