// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/shards/load_balancing.hpp"
#include "input/shards/shuffle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <numeric>
#include <set>

using namespace bellwether::input;

namespace {

std::vector<ShardExtent> const shards{{100, 16}, {0, 1}, {7, 16}, {64, 16}, {33, 32}};

std::vector<std::pair<std::int64_t, std::int64_t>> visit(std::uint64_t seed, std::int64_t epoch,
                                                         std::int64_t window_rows = 40) {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (auto const& window : epoch_windows(seed, epoch, shards, window_rows)) {
    REQUIRE(window.start == std::ssize(rows));
    for (auto const& [piece, row] : window_order(seed, epoch, window)) {
      auto const& [shard, first, count] = window.pieces.at(static_cast<std::size_t>(piece));
      REQUIRE(row < count);
      rows.emplace_back(shard, first + row);
    }
    REQUIRE(window.start + window.rows == std::ssize(rows));
  }
  return rows;
}

}  // namespace

TEST_CASE("an epoch visits each row once", "[order]") {
  std::int64_t const epoch = GENERATE(0, 1, 77), window_rows = GENERATE(1, 16, 40, 1000);
  auto const rows = visit(3, epoch, window_rows);
  CHECK(rows.size() == 204);
  std::set const distinct(rows.begin(), rows.end());
  CHECK(distinct.size() == rows.size());
  for (auto const& [shard, row] : rows) CHECK(row < shards[static_cast<std::size_t>(shard)].rows);
}

TEST_CASE("windows hold whole pieces, and no more than needed", "[order]") {
  auto const windows = epoch_windows(3, 0, shards, 40);
  for (auto const& window : windows) {
    for (auto const& piece : window.pieces) {
      auto const& extent = shards[static_cast<std::size_t>(piece.shard)];
      CHECK(piece.first_row % extent.piece == 0);
      CHECK(piece.rows == std::min(extent.piece, extent.rows - piece.first_row));
    }
    if (&window != &windows.back()) CHECK(window.rows >= 40);
    CHECK(window.rows - window.pieces.back().rows < 40);
  }
}

// Texts follow one another, and so do the shards made of them. Without shuffling, a frozen variance or a falling
// learning rate would see only one kind of text.
TEST_CASE("each window is a sample of all shards", "[order]") {
  std::vector<ShardExtent> const two_kinds(10, {.rows = 32768, .piece = 1024});  // the first three shards hold one kind
  double largest = 0, smallest = 1;
  for (auto const& window : epoch_windows(5, 0, two_kinds, 16384)) {
    CHECK(window.pieces.size() == 16);
    double first_kind = 0;
    for (auto const& piece : window.pieces) first_kind += piece.shard < 3 ? 1.0 / 16 : 0;
    largest = std::max(largest, first_kind);
    smallest = std::min(smallest, first_kind);
  }
  // 0.3 on average, with a deviation of 0.11 for 16 pieces out of 320.
  CHECK(smallest > 0);
  CHECK(largest < 0.7);
}

TEST_CASE("the order depends on seed and epoch", "[order]") {
  CHECK(visit(3, 0) == visit(3, 0));
  CHECK(visit(3, 0) != visit(3, 1));
  CHECK(visit(3, 0) != visit(4, 0));
  // Pieces and rows are both shuffled: some seed changes each of them.
  std::set<std::int64_t> shard, first;
  std::set<std::vector<std::int32_t>> orders;
  Window const window{.pieces = {{.shard = 0, .first_row = 0, .rows = 16}}, .rows = 16, .start = 0};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    auto const piece = epoch_windows(seed, 0, shards, 40)[0].pieces[0];
    shard.insert(piece.shard);
    if (piece.shard == 0) first.insert(piece.first_row);
    std::vector<std::int32_t> order;
    for (auto const& place : window_order(seed, 0, window)) order.push_back(place.row);
    orders.insert(order);
  }
  CHECK(shard.size() == 4);
  CHECK(first.size() > 2);
  CHECK(orders.size() == 40);
}

TEST_CASE("sequences and tokens are balanced over ranks", "[order]") {
  int const ranks = GENERATE(1, 2, 3, 4, 7);
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 64; ++i) lengths.push_back(i % 5 == 0 ? 128 : 5 + i * 37 % 120);
  auto const owner = balance_by_length(lengths, ranks);
  std::vector<std::int64_t> count(static_cast<std::size_t>(ranks)), tokens(count);
  for (std::size_t i = 0; i < owner.size(); ++i) {
    ++count.at(static_cast<std::size_t>(owner[i]));
    tokens[static_cast<std::size_t>(owner[i])] += lengths[i];
  }
  auto const [fewest, most] = std::ranges::minmax(count);
  CHECK(most - fewest <= 1);
  CHECK(fewest == 64 / ranks);
  auto const [lightest, heaviest] = std::ranges::minmax(tokens);
  // In order of arrival the gap would be a sequence or more. By length it is less than one short sequence, plus one
  // sequence if the ranks do not divide the batch.
  CHECK(heaviest - lightest <= (64 % ranks == 0 ? 8 : 20));
}

TEST_CASE("fewer sequences than ranks leave ranks empty", "[order]") {
  CHECK(balance_by_length(std::vector<std::int64_t>{3, 9}, 4) == std::vector<int>{1, 0});
}
