// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/prepare/pairs.hpp"
#include "input/shards/masking.hpp"
#include "input/shards/shards.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bellwether::input {

/// Parameters for turning pairs into rows of shards.
struct RowRule {
  PairRule pairs;
  MaskingRule masking;
  ShardFormat format;
  std::int64_t duplicates = 1, shard_rows = 32768;
  std::uint64_t seed = 1;
  std::int64_t first_row = 0;  ///< number of the first row; it selects the random masks
  std::int64_t first_window = 0;
};

/// Writes a set of shards, FOLDER/NAME_00000.h5 and so on, window by window. Use it on one thread.
class ShardSetWriter {
 public:
  ShardSetWriter(std::string folder, std::string name, RowRule const& rule);
  /// Draws the pairs of all passes over the window and writes their rows. Calls `poll`, if given, for each row.
  void write(DocumentWindow const& window, std::function<void()> const& poll = {});
  void close();

  RowRule const& rule() const { return rule_; }
  std::vector<std::string> paths() const;  ///< shards written so far
  std::int64_t rows() const { return rows_; }
  std::int64_t shards() const { return shards_; }
  std::int64_t row_tokens() const { return row_tokens_; }
  std::int64_t random_next() const { return random_next_; }

 private:
  std::int64_t chunk_rows() const;
  std::string path_of(std::int64_t shard) const;
  void append(std::span<std::int32_t const> ids, SentencePair const& pair);

  std::string folder_, name_;
  RowRule rule_;
  std::int64_t windows_ = 0, rows_ = 0, shards_ = 0, row_tokens_ = 0, random_next_ = 0;
  Sample sample_;
  std::unique_ptr<ShardWriter> shard_;
};

}  // namespace bellwether::input
