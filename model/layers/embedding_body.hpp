// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/row_walk.hpp"
#include "model/layers/embedding.hpp"
#include "model/layers/rows.hpp"

/// Bodies of the kernels of embedding.hpp, for for_each_row().
namespace bellwether::model {

template <class Real, class Stored>
struct EmbedRow {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index t) const {
    Real const* const w = word + ids[t] * C;
    Real const* const p = position + positions[t] * C;
    Real const* const s = segment + segments[t] * C;
    Stored* const out = sum + t * C;
    row.each(C, [=](Index k) { out[k] = Stored(w[k] + s[k] + p[k]); });
  }

  Index C;
  std::int32_t const *ids, *positions, *segments;
  Real const *word, *position, *segment;
  Stored* sum;
};

/// to += from, both of C elements.
template <class Real, class Row>
KOKKOS_INLINE_FUNCTION void add_to(Row const& row, Index C, Real const* from, Real* to) {
  row.each(C, [=](Index k) { to[k] += from[k]; });
}

/// Gradient of one vocabulary entry: the sum over all rows that use it.
template <class Real>
struct WordBackward {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index u) const {
    for (Index i = tokens.starts[u]; i < tokens.starts[u + 1]; ++i)
      add_to(row, C, dsum + tokens.order[i] * C, dword + tokens.ids[u] * C);
  }

  Index C;
  TokenIndex tokens;
  Real const* dsum;
  Real* dword;
};

/// Gradient of one position: the sum over all sequences that are long enough.
template <class Real>
struct PositionBackward {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index position) const {
    for (Index b = 0; b < sequences; ++b) {
      Index const from = sequence_offsets[b] + position;
      if (from < sequence_offsets[b + 1]) add_to(row, C, dsum + from * C, dposition + position * C);
    }
  }

  Index C, sequences;
  std::int32_t const* sequence_offsets;
  Real const* dsum;
  Real* dposition;
};

/// Partial gradients of the segments from one block of rows.
template <class Real>
struct SegmentBlockBackward {
  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(Row const& row, Index block) const {
    // Loops over rows of the table outermost, so that one thread of a team owns an element.
    Real* const out = partial + block * segment_rows * C;
    for (Index segment = 0; segment < segment_rows; ++segment) {
      Real* const of_segment = out + segment * C;
      row.each(C, [=](Index k) { of_segment[k] = 0; });
    }
    Index const end = Kokkos::min(rows, (block + 1) * row_block);
    for (Index t = block * row_block; t < end; ++t) add_to(row, C, dsum + t * C, out + segments[t] * C);
  }

  Index rows, C, segment_rows;
  std::int32_t const* segments;
  Real const* dsum;
  Real* partial;
};

}  // namespace bellwether::model
