// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/shuffle.hpp"

#include "core/random/random.hpp"

#include <algorithm>
#include <utility>

namespace bellwether::input {
namespace {

/// Fisher-Yates shuffle.
template <class T>
void shuffle(std::vector<T>& values, RandomStream random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[random.below(static_cast<std::uint32_t>(i))]);
}

}  // namespace

std::vector<Window> epoch_windows(std::uint64_t seed, std::int64_t epoch, std::span<ShardExtent const> shards,
                                  std::int64_t window_rows) {
  std::vector<Piece> pieces;
  for (std::int64_t shard = 0; shard < std::ssize(shards); ++shard) {
    auto const [rows, piece] = shards[static_cast<std::size_t>(shard)];
    for (std::int64_t first = 0; first < rows; first += piece)
      pieces.push_back({shard, first, std::min(piece, rows - first)});
  }
  shuffle(pieces, RandomStream(seed, Purpose::order, static_cast<std::uint64_t>(epoch)));
  std::vector<Window> windows;
  for (std::int64_t start = 0; auto const& piece : pieces) {
    if (windows.empty() || windows.back().rows >= window_rows) windows.push_back({.pieces = {}, .start = start});
    windows.back().pieces.push_back(piece);
    windows.back().rows += piece.rows;
    start += piece.rows;
  }
  return windows;
}

std::vector<RowPlace> window_order(std::uint64_t seed, std::int64_t epoch, Window const& window) {
  std::vector<RowPlace> order;
  order.reserve(static_cast<std::size_t>(window.rows));
  for (std::int32_t piece = 0; piece < std::ssize(window.pieces); ++piece)
    for (std::int32_t row = 0; row < window.pieces[static_cast<std::size_t>(piece)].rows; ++row)
      order.push_back({piece, row});
  // (epoch, position in the epoch) identifies the window.
  auto const first = static_cast<std::uint64_t>(epoch) << 40 | static_cast<std::uint64_t>(window.start);
  shuffle(order, RandomStream(seed, Purpose::window, first));
  return order;
}

}  // namespace bellwether::input
