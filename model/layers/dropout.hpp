// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/random/philox_lanes.hpp"
#include "core/simd/row_walk.hpp"

namespace bellwether::model {

/// Sample number and position of every row of T. They are dropout's counters, so that masks do not depend on ranks,
/// micro-batches or padding. samples: (T), positions: (T).
struct RowOrigin {
  std::int64_t const* samples;
  std::int32_t const* positions;
};

/// One dropout layer of the model. Masks are recomputed, never stored.
struct Dropout {
  RandomKey key{};
  std::uint32_t site = 0;  ///< identifies the layer; below 2^16
  double probability = 0;  ///< 0: no dropout

  KOKKOS_FUNCTION bool active() const { return probability > 0; }
};

inline constexpr int dropout_chunk = 64;

/// The two constants that turn random numbers into dropout factors.
template <class Real>
struct DropoutRule {
  std::uint32_t threshold;  ///< random numbers below it drop a channel
  Real kept;                ///< factor of the channels that are kept

  KOKKOS_INLINE_FUNCTION explicit DropoutRule(Dropout const& dropout)
      : threshold(static_cast<std::uint32_t>(dropout.probability * 4294967296.0)),
        kept(static_cast<Real>(1 / (1 - dropout.probability))) {}
};

/// The random numbers of one row. Counter 16 c + i yields channels 64 c + i, + 16, + 32 and + 48, so that adjacent
/// lanes write adjacent elements.
template <class Real>
struct DropoutDraw {
  RandomKey key;
  std::uint32_t low, high, position;
  DropoutRule<Real> rule;

  KOKKOS_INLINE_FUNCTION DropoutDraw(Dropout const& dropout, std::int64_t sample, std::int32_t at)
      : DropoutDraw(dropout, DropoutRule<Real>(dropout), sample, at) {}
  /// Takes a precomputed rule: a thread needs longer to compute it than to draw.
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
  /// Returns the number of counters for this many channels.
  KOKKOS_INLINE_FUNCTION static Index counters(Index channels) {
    return (channels + dropout_chunk - 1) / dropout_chunk * (dropout_chunk / 4);
  }
  KOKKOS_INLINE_FUNCTION static Index channel(Index counter, int part) {
    return counter / 16 * dropout_chunk + counter % 16 + 16 * part;
  }
  /// Returns 0 or 1 / (1 - p).
  KOKKOS_INLINE_FUNCTION Real factor(std::uint32_t drawn) const { return drawn < rule.threshold ? Real(0) : rule.kept; }
};

/// Dropout factors of one row in chunks of 64 channels, for hosts.
template <class Real>
struct DropoutChunks {
  KOKKOS_INLINE_FUNCTION DropoutChunks(Dropout const& dropout, std::int64_t sample, std::int32_t position)
      : draw(dropout, sample, position), keys(dropout.key) {}

  /// Computes the factors of channels [64 chunk, 64 chunk + 64).
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

/// A row of elements that dropout treats.
struct DropoutRow {
  std::int64_t sample;        ///< sequence in the whole run
  std::int32_t position;      ///< row in the sequence
  std::uint32_t first_chunk;  ///< the chunk of channel 0
};

/// Calls body(k, factor of channel k) for the channels k < count of one row. The dropout must be active.
template <class Real, class Row, class Body>
KOKKOS_INLINE_FUNCTION void each_factor(Row const& row, Dropout const& dropout, DropoutRow const& of, Index count,
                                        Body const& body) {
  if constexpr (Row::shared) {
    DropoutDraw<Real> const draw(dropout, of.sample, of.position);
    row.each(DropoutDraw<Real>::counters(count), [&](Index counter) {
      auto const bits = draw.bits(of.first_chunk * (dropout_chunk / 4) + static_cast<std::uint32_t>(counter));
      for (int part = 0; part < 4; ++part) {
        Index const k = DropoutDraw<Real>::channel(counter, part);
        if (k < count) body(k, draw.factor(bits.x[part]));
      }
    });
  } else {
    DropoutChunks<Real> const chunks(dropout, of.sample, of.position);
    Real factor[dropout_chunk];
    for (Index first = 0; first < count; first += dropout_chunk) {
      chunks.factors(of.first_chunk + static_cast<std::uint32_t>(first / dropout_chunk), factor);
      row.each(Kokkos::min<Index>(dropout_chunk, count - first), [&](Index k) { body(first + k, factor[k]); });
    }
  }
}

/// Calls body(k, factor of channel k) for the channels k < count of row r of T. Without dropout the factor is 1.
template <class Real, class Row, class Body>
KOKKOS_INLINE_FUNCTION void each_dropped(Row const& row, Dropout const& dropout, RowOrigin const& origin, Index r,
                                         Index count, Body const& body) {
  if (!dropout.active()) return row.each(count, [&](Index k) { body(k, Real(1)); });
  each_factor<Real>(row, dropout, {origin.samples[r], origin.positions[r], 0}, count, body);
}

}  // namespace bellwether::model
