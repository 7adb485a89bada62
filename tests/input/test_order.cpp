// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/dealing.hpp"
#include "input/order.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <numeric>
#include <set>

using namespace bellwether::input;

namespace {

std::vector<ShardExtent> const shards{{100, 16}, {0, 1}, {7, 16}, {64, 16}, {33, 32}};

std::vector<std::pair<std::int64_t, std::int64_t>> visit(std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (auto const& window : epoch_windows(seed, epoch, shards)) {
    REQUIRE(window.start == std::ssize(rows));
    REQUIRE(window.first_row % shards[static_cast<std::size_t>(window.shard)].window == 0);
    for (auto const row : window_order(seed, epoch, window)) rows.emplace_back(window.shard, window.first_row + row);
  }
  return rows;
}

}  // namespace

TEST_CASE("an epoch visits each row once", "[order]") {
  std::int64_t const epoch = GENERATE(0, 1, 77);
  auto const rows = visit(3, epoch);
  CHECK(rows.size() == 204);
  std::set const distinct(rows.begin(), rows.end());
  CHECK(distinct.size() == rows.size());
  for (auto const& [shard, row] : rows) CHECK(row < shards[static_cast<std::size_t>(shard)].rows);
}

TEST_CASE("a shard is finished before the next begins", "[order]") {
  std::vector<std::int64_t> sequence;
  for (auto const& window : epoch_windows(3, 0, shards))
    if (sequence.empty() || sequence.back() != window.shard) sequence.push_back(window.shard);
  CHECK(sequence.size() == 4);  // of five, one is empty
}

TEST_CASE("the order follows seed and epoch", "[order]") {
  CHECK(visit(3, 0) == visit(3, 0));
  CHECK(visit(3, 0) != visit(3, 1));
  CHECK(visit(3, 0) != visit(4, 0));
  // Shards, windows and rows: each level is shuffled by some seed.
  std::set<std::int64_t> shard, first;
  std::set<std::vector<std::int32_t>> orders;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    auto const windows = epoch_windows(seed, 0, shards);
    shard.insert(windows[0].shard);
    if (windows[0].shard == 0) first.insert(windows[0].first_row);
    orders.insert(window_order(seed, 0, {.shard = 0, .first_row = 0, .rows = 16, .start = 0}));
  }
  CHECK(shard.size() == 4);
  CHECK(first.size() > 2);
  CHECK(orders.size() == 40);
}

TEST_CASE("sequences and tokens are dealt evenly", "[order]") {
  int const ranks = GENERATE(1, 2, 3, 4, 7);
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 64; ++i) lengths.push_back(i % 5 == 0 ? 128 : 5 + i * 37 % 120);
  auto const owner = deal_by_length(lengths, ranks);
  std::vector<std::int64_t> count(static_cast<std::size_t>(ranks)), tokens(count);
  for (std::size_t i = 0; i < owner.size(); ++i) {
    ++count.at(static_cast<std::size_t>(owner[i]));
    tokens[static_cast<std::size_t>(owner[i])] += lengths[i];
  }
  auto const [fewest, most] = std::ranges::minmax(count);
  CHECK(most - fewest <= 1);
  CHECK(fewest == 64 / ranks);
  auto const [lightest, heaviest] = std::ranges::minmax(tokens);
  // In order of arrival the gap would be a sequence or more; by length it is less than one short sequence, plus one
  // sequence where the ranks do not divide the batch.
  CHECK(heaviest - lightest <= (64 % ranks == 0 ? 8 : 20));
}

TEST_CASE("fewer sequences than ranks leave ranks empty", "[order]") {
  CHECK(deal_by_length(std::vector<std::int64_t>{3, 9}, 4) == std::vector<int>{1, 0});
}
