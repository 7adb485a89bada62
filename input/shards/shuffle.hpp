// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bellwether::input {

/// Size of a shard, as the order of samples needs it.
struct ShardExtent {
  std::int64_t rows = 0;
  std::int64_t piece = 1;  ///< rows read at a time, a multiple of the compressed chunk
};

/// Consecutive rows of one shard.
struct Piece {
  std::int64_t shard = 0;
  std::int64_t first_row = 0, rows = 0;
};

/// Pieces from anywhere in the set. An epoch visits their rows together, in shuffled order.
struct Window {
  std::vector<Piece> pieces;
  std::int64_t rows = 0;   ///< sum over all pieces
  std::int64_t start = 0;  ///< position of its first sample in the epoch
};

/// Returns all windows of an epoch. The pieces of all shards are put in a seeded order; each window takes pieces until
/// it has at least `window_rows` rows. A window is thus a sample of the whole set, whatever the order of its text, and
/// each compressed chunk is read once per epoch.
std::vector<Window> epoch_windows(std::uint64_t seed, std::int64_t epoch, std::span<ShardExtent const> shards,
                                  std::int64_t window_rows);

/// A row of a window; `row` counts from the first row of its piece.
struct RowPlace {
  std::int32_t piece = 0, row = 0;
};

/// Returns the order of the rows of a window: element i is the i-th row to visit.
std::vector<RowPlace> window_order(std::uint64_t seed, std::int64_t epoch, Window const& window);

}  // namespace bellwether::input
