// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/compressed_layout.hpp"
#include "core/simd/bits.hpp"
#include "core/simd/pack_access.hpp"
#include "core/types.hpp"

#include <cstdint>
#include <type_traits>

namespace bellwether::comm {

/// Return the word that contains element k, and the position of k in it; k >= 0.
KOKKOS_INLINE_FUNCTION Index word_of(Index k) {
  return static_cast<Index>(static_cast<std::uint64_t>(k) / static_cast<std::uint64_t>(word_elements));
}
KOKKOS_INLINE_FUNCTION int lane_of(Index k) {
  return static_cast<int>(static_cast<std::uint32_t>(k) % static_cast<std::uint32_t>(word_elements));
}

/// Returns the bit of element `lane` of a word.
KOKKOS_INLINE_FUNCTION std::uint32_t lane_bit(int lane) { return 0x80000000u >> lane; }

/// Returns +magnitude if the lane's bit is 1, -magnitude if it is 0.
KOKKOS_INLINE_FUNCTION float with_sign(float magnitude, std::uint32_t word, int lane) {
  return from_bits(to_bits(magnitude) ^ ((~word << lane) & 0x80000000u));
}

/// Returns `value` if the lane's bit is 1, +0 if it is 0, for any value.
KOKKOS_INLINE_FUNCTION float masked(float value, std::uint32_t word, int lane) {
  auto const mask = static_cast<std::uint32_t>(static_cast<std::int32_t>(word << lane) >> 31);
  return from_bits(to_bits(value) & mask);
}

/// Returns true for sgn(z) = +1: z >= 0, including -0. Sign bits and residuals both use this predicate.
KOKKOS_INLINE_FUNCTION bool positive(float z) { return z >= 0.0f; }

/// Returns z - S sgn(z).
KOKKOS_INLINE_FUNCTION float residual(float z, float scale) { return z - (positive(z) ? scale : -scale); }

/// Returns the bits of elements [first, first + count), count <= 32, from at most two words; the first element in the
/// most significant bit.
KOKKOS_INLINE_FUNCTION std::uint32_t bits_from(std::uint32_t const* words, Index first, int count) {
  Index const word = word_of(first);
  int const shift = lane_of(first), fit = static_cast<int>(word_elements) - shift;
  return words[word] << shift | (count > fit ? words[word + 1] >> fit : 0u);
}

/// Up to 32 neighbouring elements of a compressed mean. exact: Decoded::exact().
template <bool exact, class Access = InMemory>
struct DecodedRun {
  KOKKOS_INLINE_FUNCTION bool active(int lane) const { return (active_bits << lane & 0x80000000u) != 0; }
  KOKKOS_INLINE_FUNCTION float operator()(int lane) const {
    if constexpr (exact)
      return values[lane];
    else
      return masked(with_sign(lane < split ? magnitude : next_magnitude, sign_bits, lane), active_bits, lane);
  }

  std::uint32_t sign_bits, active_bits;  ///< the first element in the most significant bit
  float magnitude, next_magnitude;       ///< of the lanes below `split`, of the others
  int split;
  struct Unread {
    KOKKOS_INLINE_FUNCTION Unread(float const*) {}
  };
  std::conditional_t<exact, typename Access::Read, Unread> values;
};

/// One word of a compressed mean.
struct DecodedWord {
  KOKKOS_INLINE_FUNCTION float operator()(int lane) const {
    return masked(with_sign(magnitude, sign_bits, lane), active_bits, lane);
  }
  /// Returns the word shifted so that it starts at this lane.
  KOKKOS_INLINE_FUNCTION DecodedWord from(int lane) const {
    return {sign_bits << lane, active_bits << lane, magnitude};
  }

  std::uint32_t sign_bits = 0, active_bits = 0;
  float magnitude = 0;
};

/// A compressed mean, read in a kernel: +-R of the element's chunk and group, +0 for masked elements. A group of one
/// returns the uncompressed values. Points to memory of the collective.
class Decoded {
 public:
  KOKKOS_DEFAULTED_FUNCTION Decoded() = default;
  Decoded(std::uint32_t const* signs, std::uint32_t const* active, float const* magnitudes, float const* values)
      : signs_(signs), active_(active), magnitudes_(magnitudes), values_(values) {}

  KOKKOS_INLINE_FUNCTION float operator()(Index k) const {
    if (values_ != nullptr) return values_[k];
    Index const word = word_of(k);
    int const lane = lane_of(k);
    return masked(with_sign(magnitudes_[word], signs_[word], lane), active_[word], lane);
  }

  /// Returns elements [first, first + count), count <= 32, from at most two words; from one word if they are a pack.
  template <bool exact, class Access = InMemory>
  KOKKOS_INLINE_FUNCTION DecodedRun<exact, Access> run(Index first, int count) const {
    Index const word = word_of(first);
    int const shift = lane_of(first);
    float const* const from = exact ? values_ + first : nullptr;
    if constexpr (std::is_same_v<Access, InRegisters>) {
      if constexpr (exact) return {0u, active_[word] << shift, 0.0f, 0.0f, 0, from};
      return {signs_[word] << shift, active_[word] << shift, magnitudes_[word], 0.0f, InRegisters::count, from};
    } else {
      std::uint32_t const active_bits = bits_from(active_, first, count);
      if constexpr (exact) return {0u, active_bits, 0.0f, 0.0f, 0, from};
      bool const both = shift + count > static_cast<int>(word_elements);
      float const magnitude = magnitudes_[word];
      return {bits_from(signs_, first, count),         active_bits, magnitude, both ? magnitudes_[word + 1] : magnitude,
              static_cast<int>(word_elements) - shift, from};
    }
  }

  /// Return word w: elements [32 w, 32 w + 32), the first in the most significant bit. The bits of masked elements and
  /// of those beyond the end are 0.
  KOKKOS_INLINE_FUNCTION std::uint32_t signs(Index w) const { return signs_[w]; }
  KOKKOS_INLINE_FUNCTION std::uint32_t active(Index w) const { return active_[w]; }
  /// Returns R of word w. Not for a group of one that does not compress.
  KOKKOS_INLINE_FUNCTION float magnitude(Index w) const { return magnitudes_[w]; }
  /// Returns word w; restriction as for magnitude().
  KOKKOS_INLINE_FUNCTION DecodedWord word(Index w) const { return {signs_[w], active_[w], magnitudes_[w]}; }
  /// Returns the word of element k, shifted so that it starts at k.
  KOKKOS_INLINE_FUNCTION DecodedWord word_from(Index k) const { return word(word_of(k)).from(lane_of(k)); }
  /// Returns true if the values are uncompressed, which is so in a group of one.
  KOKKOS_INLINE_FUNCTION bool exact() const { return values_ != nullptr; }
  KOKKOS_INLINE_FUNCTION float const* values() const { return values_; }

 private:
  std::uint32_t const* signs_ = nullptr;
  std::uint32_t const* active_ = nullptr;
  float const* magnitudes_ = nullptr;
  float const* values_ = nullptr;
};

}  // namespace bellwether::comm
