// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/shard_copies.hpp"

#include "input/shards/shards.hpp"

#include <xxhash.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace bellwether::input {
namespace {

constexpr std::int64_t first_rows = 256;  // of a suspect, compared by checksum
constexpr std::int64_t piece = 4096;      // rows compared at a time

std::uint64_t first_ids(OpenedShard const& shard) {
  auto const ids = ShardReader(shard.path).token_ids(0, std::min(first_rows, shard.rows));
  return XXH3_64bits(ids.data(), ids.size() * sizeof ids[0]);
}

bool same_rows(OpenedShard const& one, OpenedShard const& other) {
  ShardReader const a(one.path), b(other.path);
  for (std::int64_t row = 0; row < one.rows; row += piece) {
    auto const count = std::min(piece, one.rows - row);
    if (a.token_ids(row, count) != b.token_ids(row, count)) return false;
  }
  return true;
}

/// Groups indices of shards by a key, in their order. Groups of one are omitted.
template <class Key>
std::vector<std::vector<std::size_t>> groups(std::vector<std::size_t> const& members, Key const& key) {
  std::map<decltype(key(std::size_t{0})), std::vector<std::size_t>> found;
  for (auto const member : members) found[key(member)].push_back(member);
  std::vector<std::vector<std::size_t>> several;
  for (auto& [value, group] : found)
    if (group.size() > 1) several.push_back(std::move(group));
  return several;
}

}  // namespace

std::vector<ShardCopy> find_copies(std::span<OpenedShard const> shards, std::size_t most) {
  std::vector<std::size_t> with_rows;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (shards[i].rows > 0) with_rows.push_back(i);
  auto const outside = [&](std::size_t i) {
    return std::tuple(shards[i].rows, shards[i].sequence_length, shards[i].labels);
  };
  std::vector<ShardCopy> copies;
  for (auto const& alike : groups(with_rows, outside))
    for (auto const& suspects : groups(alike, [&](std::size_t i) { return first_ids(shards[i]); }))
      for (std::size_t later = 1; later < suspects.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
          if (copies.size() == most) return copies;
          if (!same_rows(shards[suspects[earlier]], shards[suspects[later]])) continue;
          copies.push_back({suspects[earlier], suspects[later]});
          break;
        }
  return copies;
}

std::vector<std::string> trained_copies(std::span<OpenedShard const> train, std::span<OpenedShard const> heldout) {
  std::vector<OpenedShard> all(train.begin(), train.end());
  all.insert(all.end(), heldout.begin(), heldout.end());
  std::vector<std::string> faults;
  for (auto const& [original, copy] : find_copies(all))
    faults.push_back(all[copy].path + ": holds the same rows as " + all[original].path +
                     " of data.train; allowed: rows that are not trained on");
  return faults;
}

}  // namespace bellwether::input
