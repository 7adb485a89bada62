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
  std::int64_t window = 1;  ///< rows shuffled together, whole compressed chunks
};

/// Consecutive rows of one shard that an epoch visits together, in a shuffled order.
struct Window {
  std::int64_t shard = 0;
  std::int64_t first_row = 0, rows = 0;
  std::int64_t start = 0;  ///< place in the epoch of its first sample
};

/// All windows of an epoch: shards in a seeded order, inside each its windows in a seeded order. A shard is finished
/// before the next begins, so each compressed chunk is read once an epoch.
std::vector<Window> epoch_windows(std::uint64_t seed, std::int64_t epoch, std::span<ShardExtent const> shards);

/// Order of the rows inside a window: element i is the row, from the window's first, that comes i-th.
std::vector<std::int32_t> window_order(std::uint64_t seed, std::int64_t epoch, Window const& window);

}  // namespace bellwether::input
