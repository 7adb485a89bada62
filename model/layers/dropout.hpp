// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/random/philox_lanes.hpp"
#include "core/simd/row_walk.hpp"

namespace bellwether::model {

/// Sample number and position of every row of T: what dropout's counters are made of, so that masks depend on neither
/// ranks, passes nor padding. samples: (T), positions: (T).
struct RowOrigin {
  std::int64_t const* samples;
  std::int32_t const* positions;
};

/// One place in the model where dropout acts. Masks are regenerated, never stored.
struct Dropout {
  RandomKey key{};
  std::uint32_t site = 0;  ///< below 2^16
  double probability = 0;  ///< 0: the identity

  KOKKOS_FUNCTION bool active() const { return probability > 0; }
};

inline constexpr int dropout_chunk = 64;

/// A dropout in the numbers that draws are held against.
template <class Real>
struct DropoutRule {
  std::uint32_t threshold;  ///< what is drawn below it drops a channel
  Real kept;                ///< the factor of what is kept

  KOKKOS_INLINE_FUNCTION explicit DropoutRule(Dropout const& dropout)
      : threshold(static_cast<std::uint32_t>(dropout.probability * 4294967296.0)),
        kept(static_cast<Real>(1 / (1 - dropout.probability))) {}
};

/// What dropout draws at one row. Counter 16 c + i gives channels 64 c + i, + 16, + 32 and + 48, so that lanes write
/// side by side.
template <class Real>
struct DropoutDraw {
  RandomKey key;
  std::uint32_t low, high, position;
  DropoutRule<Real> rule;

  KOKKOS_INLINE_FUNCTION DropoutDraw(Dropout const& dropout, std::int64_t sample, std::int32_t at)
      : DropoutDraw(dropout, DropoutRule<Real>(dropout), sample, at) {}
  /// With a rule that is known, the host's, say: to form it takes a thread longer than to draw.
  KOKKOS_INLINE_FUNCTION DropoutDraw(Dropout const& dropout, DropoutRule<Real> const& of, std::int64_t sample,
                                     std::int32_t at)
      : key(dropout.key),
        low(static_cast<std::uint32_t>(sample)),
        high(dropout.site | (static_cast<std::uint32_t>(sample >> 32) << 16)),
        position(static_cast<std::uint32_t>(at)),
        rule(of) {}
  KOKKOS_INLINE_FUNCTION Philox4 bits(std::uint32_t counter) const {
    return philox(low, high, position, counter, key.k0, key.k1);
  }
  /// Draws for that many channels, and which channel is part 0 to 3 of a draw.
  KOKKOS_INLINE_FUNCTION static Index counters(Index channels) {
    return (channels + dropout_chunk - 1) / dropout_chunk * (dropout_chunk / 4);
  }
  KOKKOS_INLINE_FUNCTION static Index channel(Index counter, int part) {
    return counter / 16 * dropout_chunk + counter % 16 + 16 * part;
  }
  /// 0 or 1 / (1 - p).
  KOKKOS_INLINE_FUNCTION Real factor(std::uint32_t drawn) const { return drawn < rule.threshold ? Real(0) : rule.kept; }
};

/// Factors of one row by 64 channels, on hosts.
template <class Real>
struct DropoutChunks {
  KOKKOS_INLINE_FUNCTION DropoutChunks(Dropout const& dropout, std::int64_t sample, std::int32_t position)
      : draw(dropout, sample, position), keys(dropout.key) {}

  /// Factors of channels [64 chunk, 64 chunk + 64).
  KOKKOS_INLINE_FUNCTION void factors(std::uint32_t chunk, Real (&factor)[dropout_chunk]) const {
    std::uint32_t drawn[dropout_chunk];
#if defined(BELLWETHER_PHILOX_LANES)
    for (std::uint32_t i = 0; i < 16; i += lanes::counters)
      lanes::draw(
          keys,
          [&](lanes::Halves const& lane) {
            return WideCounter<lanes::Halves>{{lanes::Halves{} + draw.low, lanes::Halves{} + draw.high,
                                               lanes::Halves{} + draw.position, lane + (chunk * 16 + i)}};
          },
          drawn + i, 16);
#else
    BELLWETHER_SIMD
    for (std::uint32_t i = 0; i < 16; ++i) {
      auto const bits = draw.bits(chunk * 16 + i);
      for (int part = 0; part < 4; ++part) drawn[i + 16 * static_cast<std::uint32_t>(part)] = bits.x[part];
    }
#endif
    BELLWETHER_SIMD
    for (int k = 0; k < dropout_chunk; ++k) factor[k] = draw.factor(drawn[k]);
  }

  DropoutDraw<Real> draw;
#if defined(BELLWETHER_PHILOX_LANES)
  lanes::RoundKeys keys;
#else
  RandomKey keys;
#endif
};

/// body(k, factor of channel k) for the channels k < count of one row, with a dropout that is active; `first_chunk` is
/// the first channel's chunk.
template <class Real, class Row, class Body>
KOKKOS_INLINE_FUNCTION void each_factor(Row const& row, Dropout const& dropout, std::int64_t sample,
                                        std::int32_t position, std::uint32_t first_chunk, Index count,
                                        Body const& body) {
  if constexpr (Row::shared) {
    DropoutDraw<Real> const draw(dropout, sample, position);
    row.each(DropoutDraw<Real>::counters(count), [&](Index counter) {
      auto const bits = draw.bits(first_chunk * (dropout_chunk / 4) + static_cast<std::uint32_t>(counter));
      for (int part = 0; part < 4; ++part) {
        Index const k = DropoutDraw<Real>::channel(counter, part);
        if (k < count) body(k, draw.factor(bits.x[part]));
      }
    });
  } else {
    DropoutChunks<Real> const chunks(dropout, sample, position);
    Real factor[dropout_chunk];
    for (Index first = 0; first < count; first += dropout_chunk) {
      chunks.factors(first_chunk + static_cast<std::uint32_t>(first / dropout_chunk), factor);
      row.each(Kokkos::min<Index>(dropout_chunk, count - first), [&](Index k) { body(first + k, factor[k]); });
    }
  }
}

/// The same for row r of T, from its first channel on; the factor is 1 without a dropout.
template <class Real, class Row, class Body>
KOKKOS_INLINE_FUNCTION void each_dropped(Row const& row, Dropout const& dropout, RowOrigin const& origin, Index r,
                                         Index count, Body const& body) {
  if (!dropout.active()) return row.each(count, [&](Index k) { body(k, Real(1)); });
  each_factor<Real>(row, dropout, origin.samples[r], origin.positions[r], 0, count, body);
}

}  // namespace bellwether::model
