// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/bf16.hpp"
#include "core/types.hpp"

namespace bellwether::model {

// Layers are templates over Real, in which they compute, and Stored, in which activations and what matrices are
// multiplied with are stored: Real itself, or bf16 where Real is float.

/// Rows are handled in blocks of this many; sums over rows are formed by block, then over blocks in their order.
/// Devices want more blocks than hosts have threads.
inline constexpr Index row_block = on_devices ? 16 : 32;
inline Index row_blocks(Index rows) { return (rows + row_block - 1) / row_block; }

/// Where sums over columns go: the first `count` columns to sums[0], the next ones to sums[1], and so on; null
/// ones come last.
template <class Real>
struct ColumnSums {
  Index count;
  Real* sums[3] = {};

  Index columns() const { return count * (sums[2] != nullptr ? 3 : sums[1] != nullptr ? 2 : 1); }
};

/// to(k) += sum over blocks of partial(block, k), in an order that depends on `blocks` and Space alone. partial:
/// (blocks, to.columns()).
template <class Real, class Space>
void add_block_sums(Space const& exec, Index blocks, Real const* partial, ColumnSums<Real> const& to);

/// x(r, k) += bias(k). x: (rows, columns).
template <class Real, class Stored, class Space>
void add_bias(Space const& exec, Index rows, Index columns, Real const* bias, Stored* x);

/// sums(k) += sum of x(r, k) over rows. x: rows of `columns` elements, `stride` apart; partial: (row_blocks(rows),
/// columns), scratch.
template <class Real, class Stored, class Space>
void add_column_sums(Space const& exec, Index rows, Index columns, Index stride, Stored const* x, Real* partial,
                     Real* sums);

/// to(i, :) = from(index(i), :). index: (count), to: (count, C).
template <class Stored, class Space>
void gather_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Stored const* from, Stored* to);

/// to(index(i), :) += from(i, :), index without repeats.
template <class Real, class Space>
void add_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Real const* from, Real* to);

}  // namespace bellwether::model
