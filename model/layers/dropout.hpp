// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/math.hpp"
#include "core/random.hpp"
#include "core/types.hpp"

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

/// Factors 0 or 1 / (1 - p) of channels [64 * chunk, 64 * chunk + 64) at one row. Counter i of a chunk gives channels
/// i, i + 16, i + 32 and i + 48, so that lanes write side by side.
template <class Real>
KOKKOS_INLINE_FUNCTION void dropout_factors(Dropout const& dropout, std::int64_t sample, std::int32_t position,
                                            std::uint32_t chunk, Real (&factor)[dropout_chunk]) {
  auto const threshold = static_cast<std::uint32_t>(dropout.probability * 4294967296.0);
  Real const kept = static_cast<Real>(1 / (1 - dropout.probability));
  auto const low = static_cast<std::uint32_t>(sample);
  auto const high = dropout.site | (static_cast<std::uint32_t>(sample >> 32) << 16);
  BELLWETHER_SIMD
  for (std::uint32_t i = 0; i < 16; ++i) {
    auto const bits =
        philox(low, high, static_cast<std::uint32_t>(position), chunk * 16 + i, dropout.key.k0, dropout.key.k1);
    factor[i] = bits.x[0] < threshold ? Real(0) : kept;
    factor[i + 16] = bits.x[1] < threshold ? Real(0) : kept;
    factor[i + 32] = bits.x[2] < threshold ? Real(0) : kept;
    factor[i + 48] = bits.x[3] < threshold ? Real(0) : kept;
  }
}

/// row(k) *= the dropout factor of channel k, k < count; `first_chunk` is the first channel's chunk.
template <class Real>
KOKKOS_INLINE_FUNCTION void apply_dropout(Dropout const& dropout, std::int64_t sample, std::int32_t position,
                                          std::uint32_t first_chunk, Index count, Real* row) {
  Real factor[dropout_chunk];
  for (Index first = 0; first < count; first += dropout_chunk) {
    dropout_factors(dropout, sample, position, first_chunk + static_cast<std::uint32_t>(first / dropout_chunk), factor);
    Index const width = Kokkos::min<Index>(dropout_chunk, count - first);
    BELLWETHER_SIMD
    for (Index k = 0; k < width; ++k) row[first + k] *= factor[k];
  }
}

}  // namespace bellwether::model
