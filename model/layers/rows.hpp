// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/simd/bf16.hpp"
#include "core/types.hpp"

#include <span>
#include <type_traits>

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

/// Sums by block, of one kernel or of several, that are still to be added where they belong, all by one launch.
template <class Real>
class PendingSums {
 public:
  static constexpr int most = 4;
  /// Elements of scratch for `most` of them with so many blocks, and so many columns together: each begins at a whole
  /// pack of 16 bytes.
  static Index room(Index blocks, Index columns) { return blocks * columns + 4 * most; }

  /// scratch: for all that is put before add().
  explicit PendingSums(std::span<Real> scratch) : scratch_(scratch) {}
  /// Where a kernel leaves its sums by block: (blocks, to.columns()).
  Real* put(Index blocks, ColumnSums<Real> const& to);
  /// to(k) += sum over blocks of what was put there, in an order that depends on `blocks` and Space alone.
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

/// Where a kernel leaves sums by block: in scratch of its own, (blocks, columns), from where they are added at once, or
/// among pending ones.
template <class Real>
class BlockScratch {
 public:
  BlockScratch(Real* scratch) : scratch_(scratch) {}
  BlockScratch(PendingSums<Real>& pending) : pending_(&pending) {}

  /// run(Real* partial) launches the kernel.
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
/// For parameters that Real is not found by.
template <class Real>
using BlockScratchOf = std::type_identity_t<BlockScratch<Real>>;

/// x(r, k) += bias(k). x: (rows, columns).
template <class Real, class Stored, class Space>
void add_bias(Space const& exec, Index rows, Index columns, Real const* bias, Stored* x);

/// sums(k) += sum of x(r, k) over rows. x: rows of `columns` elements, `stride` apart.
template <class Real, class Stored, class Space>
void add_column_sums(Space const& exec, Index rows, Index columns, Index stride, Stored const* x,
                     BlockScratchOf<Real> const& scratch, Real* sums);

/// The same of two groups of to.count columns, that of to.sums[1] `apart` elements behind that of to.sums[0].
template <class Real, class Stored, class Space>
void add_column_sums(Space const& exec, Index rows, Index stride, Stored const* x, Index apart,
                     BlockScratchOf<Real> const& scratch, ColumnSums<Real> const& to);

/// to(i, :) = from(index(i), :). index: (count), to: (count, C).
template <class Stored, class Space>
void gather_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Stored const* from, Stored* to);

/// to(index(i), :) += from(i, :), index without repeats.
template <class Real, class Space>
void add_rows(Space const& exec, Index count, Index C, std::int32_t const* index, Real const* from, Real* to);

}  // namespace bellwether::model
