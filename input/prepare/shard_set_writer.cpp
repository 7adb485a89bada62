// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/shard_set_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace bellwether::input {

ShardSetWriter::ShardSetWriter(std::string folder, std::string name, RowRule const& rule)
    : folder_(std::move(folder)), name_(std::move(name)), rule_(rule) {}

void ShardSetWriter::write(DocumentWindow const& window, std::function<void()> const& poll) {
  for (std::int64_t pass = 0; pass < rule_.duplicates; ++pass)
    for (auto const& pair : draw_pairs(window, rule_.pairs, rule_.seed, rule_.first_window + windows_, pass, poll)) {
      append(window.ids(), pair);
      if (poll) poll();
    }
  ++windows_;
}

/// Limits chunks to a million tokens, so that compressing one is fast and readers of a few rows decompress little.
std::int64_t ShardSetWriter::chunk_rows() const {
  constexpr std::int64_t most_rows = 1024, most_tokens = std::int64_t{1} << 20;
  return std::clamp<std::int64_t>(most_tokens / rule_.format.sequence_length, 1, most_rows);
}

std::string ShardSetWriter::path_of(std::int64_t shard) const {
  std::string number = std::to_string(shard);
  number.insert(0, number.size() < 5 ? 5 - number.size() : 0, '0');
  return folder_ + "/" + name_ + "_" + number + ".h5";
}

std::vector<std::string> ShardSetWriter::paths() const {
  std::vector<std::string> paths;
  for (std::int64_t shard = 0; shard < shards_; ++shard) paths.push_back(path_of(shard));
  return paths;
}

void ShardSetWriter::append(std::span<std::int32_t const> ids, SentencePair const& pair) {
  if (!shard_) {
    std::filesystem::create_directories(folder_);
    shard_ = std::make_unique<ShardWriter>(path_of(shards_), rule_.format, chunk_rows());
    ++shards_;
  }
  auto const special = rule_.format.special;
  auto const first = ids.subspan(pair.first_begin, pair.first_count);
  auto const second = ids.subspan(pair.second_begin, pair.second_count);
  auto& tokens = sample_.token_ids;
  tokens.assign(1, static_cast<std::int32_t>(special.classify));
  tokens.insert(tokens.end(), first.begin(), first.end());
  tokens.push_back(static_cast<std::int32_t>(special.separate));
  sample_.segment_ids.assign(tokens.size(), 0);
  tokens.insert(tokens.end(), second.begin(), second.end());
  tokens.push_back(static_cast<std::int32_t>(special.separate));
  sample_.segment_ids.resize(tokens.size(), 1);
  sample_.random_next = pair.random_next;
  if (rule_.format.static_masks) {
    auto masks = draw_masks(rule_.masking, rule_.seed, rule_.first_row + rows_, tokens);
    sample_.masked_positions = std::move(masks.positions);
    sample_.masked_ids = std::move(masks.ids);
  }
  shard_->append(sample_);
  ++rows_;
  row_tokens_ += static_cast<std::int64_t>(tokens.size());
  random_next_ += pair.random_next ? 1 : 0;
  if (shard_->rows() == rule_.shard_rows) close();
}

void ShardSetWriter::close() {
  if (shard_) shard_->close();
  shard_.reset();
}

}  // namespace bellwether::input
