// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"

#include <span>
#include <type_traits>

namespace bellwether::model {

// Layers are templates over Real, the type of the arithmetic, and Stored, the type of activations and of operands of
// matrix products. Stored is Real, or bf16 where Real is float.

/// Rows in a block. Sums over rows are computed block by block and then added in the order of the blocks. Devices use
/// smaller blocks than hosts, since they run more threads.
inline constexpr Index row_block = on_devices ? 16 : 32;
inline Index row_blocks(Index rows) { return (rows + row_block - 1) / row_block; }

/// Destinations of column sums: the first `count` columns are added to sums[0], the next ones to sums[1], and so on.
/// Unused pointers are null and come last.
template <class Real>
struct ColumnSums {
  Index count;
  Real* sums[3] = {};

  Index columns() const { return count * (sums[2] != nullptr ? 3 : sums[1] != nullptr ? 2 : 1); }
};

/// Partial sums over blocks, from one or several kernels, that one launch adds to their destinations.
template <class Real>
class PendingSums {
 public:
  static constexpr int most = 4;
  /// Returns the scratch size, in elements, for `most` partial sums with this many blocks and this many columns in
  /// total. Each begins at a multiple of 16 bytes.
  static Index room(Index blocks, Index columns) { return blocks * columns + 4 * most; }

  /// scratch: holds all partial sums until add().
  explicit PendingSums(std::span<Real> scratch) : scratch_(scratch) {}
  /// Returns the memory (blocks, to.columns()) for a kernel's partial sums.
  Real* put(Index blocks, ColumnSums<Real> const& to);
  /// to(k) += sum over blocks of the partial sums, for each put(). The order depends on `blocks` and Space only.
  template <class Space>
  void add(Space const& exec);

 private:
  struct Put {
    Index blocks;
    Real const* partial;
    ColumnSums<Real> to;
  };
  std::span<Real> scratch_;
  Index taken_ = 0;
  int count_ = 0;
  Put puts_[most];
};

/// Memory for a kernel's partial sums over blocks: either scratch (blocks, columns), which is added up at once, or an
/// entry in PendingSums.
template <class Real>
class BlockScratch {
 public:
  BlockScratch(Real* scratch) : scratch_(scratch) {}
  BlockScratch(PendingSums<Real>& pending) : pending_(&pending) {}

  /// Calls run(Real* partial), which launches the kernel.
  template <class Space, class Run>
  void sum(Space const& exec, Index blocks, ColumnSums<Real> const& to, Run const& run) const {
    PendingSums<Real> alone({scratch_, static_cast<std::size_t>(blocks * to.columns())});
    PendingSums<Real>& sums = pending_ != nullptr ? *pending_ : alone;
    run(sums.put(blocks, to));
    if (pending_ == nullptr) alone.add(exec);
  }

 private:
  Real* scratch_ = nullptr;
  PendingSums<Real>* pending_ = nullptr;
};
/// For parameters from which Real must not be deduced.
template <class Real>
using BlockScratchOf = std::type_identity_t<BlockScratch<Real>>;

/// x(r, k) += bias(k). x: (rows, columns).
template <class Real, class Stored, class Space>
void add_bias(Space const& exec, Index rows, Index columns, Real const* bias, Stored* x);

/// Rows of a matrix in memory.
template <class Stored>
struct StoredRows {
  Index rows;        ///< number of rows
  Index stride;      ///< elements from one row to the next
  Stored const* at;  ///< element (0, 0)
};

/// sums(k) += sum of x(r, k) over rows, for the first `columns` columns.
template <class Real, class Stored, class Space>
void add_column_sums(Space const& exec, StoredRows<Stored> const& x, Index columns, BlockScratchOf<Real> const& scratch,
                     Real* sums);

/// Adds the column sums of two groups of to.count columns. The group of to.sums[1] starts `apart` elements after that
/// of to.sums[0].
template <class Real, class Stored, class Space>
void add_column_sums(Space const& exec, StoredRows<Stored> const& x, Index apart, BlockScratchOf<Real> const& scratch,
                     ColumnSums<Real> const& to);

/// to(i, :) = from(index(i), :). index: (count), to: (count, C).
template <class Stored, class Space>
void gather_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Stored const* from, Stored* to);

/// to(index(i), :) += from(i, :). index must have no repeated values.
template <class Real, class Space>
void add_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Real const* from, Real* to);

}  // namespace bellwether::model
