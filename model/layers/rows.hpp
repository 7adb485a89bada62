// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

namespace bellwether::model {

/// Rows are handled in blocks of this many; sums over rows are formed by block, then over blocks in their order.
inline constexpr Index row_block = 32;
inline Index row_blocks(Index rows) { return (rows + row_block - 1) / row_block; }

/// columns(k) += sum over blocks of partial(block, first + k), blocks in order. partial: (blocks, stride).
template <class Real, class Space>
void add_block_sums(Space const& exec, Index blocks, Index stride, Index first, Index count, Real const* partial,
                    Real* columns);

/// x(r, k) += bias(k). x: (rows, columns).
template <class Real, class Space>
void add_bias(Space const& exec, Index rows, Index columns, Real const* bias, Real* x);

/// sums(k) += sum of x(r, k) over rows. x: rows of `columns` elements, `stride` apart; partial: (row_blocks(rows),
/// columns), scratch.
template <class Real, class Space>
void add_column_sums(Space const& exec, Index rows, Index columns, Index stride, Real const* x, Real* partial,
                     Real* sums);

/// to(i, :) = from(index(i), :). index: (count), to: (count, C).
template <class Real, class Space>
void gather_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Real const* from, Real* to);

/// to(index(i), :) += from(i, :), index without repeats.
template <class Real, class Space>
void add_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Real const* from, Real* to);

}  // namespace bellwether::model
