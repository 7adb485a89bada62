// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/order.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace bellwether::input {
namespace {

/// 0..count-1 in random order (Fisher and Yates).
std::vector<std::int32_t> permutation(std::int64_t count, RandomStream random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
  return order;
}

}  // namespace

std::vector<Window> epoch_windows(std::uint64_t seed, std::int64_t epoch, std::span<ShardExtent const> shards) {
  auto const stream = static_cast<std::uint64_t>(epoch);
  std::vector<Window> windows;
  std::int64_t start = 0;
  for (auto const shard : permutation(std::ssize(shards), RandomStream(seed, Purpose::order, stream))) {
    auto const [rows, window] = shards[static_cast<std::size_t>(shard)];
    std::int64_t const count = (rows + window - 1) / window;
    // Stream 0 orders the shards, 1 + shard the windows of a shard.
    for (auto const w :
         permutation(count, RandomStream(seed, Purpose::order, stream, static_cast<std::uint32_t>(1 + shard)))) {
      std::int64_t const first = w * window;
      windows.push_back({shard, first, std::min(window, rows - first), start});
      start += windows.back().rows;
    }
  }
  return windows;
}

std::vector<std::int32_t> window_order(std::uint64_t seed, std::int64_t epoch, Window const& window) {
  // (epoch, place in the epoch) names the window.
  auto const first = static_cast<std::uint64_t>(epoch) << 40 | static_cast<std::uint64_t>(window.start);
  return permutation(window.rows, RandomStream(seed, Purpose::window, first));
}

}  // namespace bellwether::input
