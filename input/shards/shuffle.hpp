// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bellwether::input {

/// What the order needs to know of a shard.
struct ShardExtent {
  std::int64_t rows = 0;
  std::int64_t piece = 1;  ///< rows read at a time, whole compressed chunks
};

/// Consecutive rows of one shard.
struct Piece {
  std::int64_t shard = 0;
  std::int64_t first_row = 0, rows = 0;
};

/// Pieces from anywhere in the set whose rows an epoch visits together, in a shuffled order.
struct Window {
  std::vector<Piece> pieces;
  std::int64_t rows = 0;   ///< of all pieces
  std::int64_t start = 0;  ///< place in the epoch of its first sample
};

/// All windows of an epoch: the pieces of all shards in a seeded order, as many to a window as give it `window_rows`
/// or more. So a window is a sample of the whole set, whatever order its text came in, and each compressed chunk is
/// read once an epoch.
std::vector<Window> epoch_windows(std::uint64_t seed, std::int64_t epoch, std::span<ShardExtent const> shards,
                                  std::int64_t window_rows);

/// A row of a window: `row` counts from the first of its piece.
struct RowPlace {
  std::int32_t piece = 0, row = 0;
};

/// Order of the rows of a window: element i is the row that comes i-th.
std::vector<RowPlace> window_order(std::uint64_t seed, std::int64_t epoch, Window const& window);

}  // namespace bellwether::input
