// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/system/error.hpp"
#include "input/shards/shards.hpp"
#include "input/text/vocabulary_checksum.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace bellwether::input {

void ShardRows::reserve(std::int64_t count, ShardFormat const& format) {
  auto const n = static_cast<std::size_t>(count);
  auto const s = n * static_cast<std::size_t>(format.sequence_length);
  auto const p = n * static_cast<std::size_t>(format.masked_length);
  sequence_length = format.sequence_length;
  masked_length = format.masked_length;
  token_ids.reserve(s);
  mask.reserve(s);
  segment_ids.reserve(s);
  masked_positions.reserve(p);
  masked_ids.reserve(p);
  next_labels.reserve(n);
  lengths.reserve(n);
  predictions.reserve(n);
}

void ShardRows::clear() {
  rows = 0;
  for (auto* values : {&token_ids, &masked_positions, &masked_ids, &lengths, &predictions}) values->clear();
  for (auto* values : {&mask, &segment_ids, &next_labels}) values->clear();
}

ShardWriter::ShardWriter(std::string path, ShardFormat const& format, std::int64_t chunk_rows)
    : path_(std::move(path)), partial_(path_ + ".partial"), format_(format), chunk_rows_(chunk_rows) {
  require(format.sequence_length >= 4 && format.masked_length >= 1 && chunk_rows >= 1, "bad shard format");
  file_ = std::make_unique<Hdf5File>(Hdf5File::create(partial_));
  auto const matrix = [&](char const* name, ElementType type, std::int64_t width) {
    file_->create_data_set(name, type, {0, width},
                           {.chunk = {chunk_rows, width}, .gzip = 4, .shuffle = true, .grows = true});
  };
  // Types, names and shapes of NVIDIA's create_pretraining_data.py.
  matrix("input_ids", ElementType::i32, format.sequence_length);
  matrix("input_mask", ElementType::i8, format.sequence_length);
  matrix("segment_ids", ElementType::i8, format.sequence_length);
  // Dynamic masks also get these two data sets, full of zeros ("no prediction"). Other readers expect all six, with N
  // rows, and the width defines the maximum number of predictions. Compressed zeros take almost no space.
  matrix("masked_lm_positions", ElementType::i32, format.masked_length);
  matrix("masked_lm_ids", ElementType::i32, format.masked_length);
  file_->create_data_set("next_sentence_labels", ElementType::i8, {0},
                         {.chunk = {chunk_rows}, .gzip = 4, .shuffle = false, .grows = true});
  file_->set_attribute("/", "format", "bellwether shard");
  file_->set_attribute("/", "format_version", "1.0");
  file_->set_attribute("/", "masking", format.static_masks ? "static" : "dynamic");
  file_->set_attribute("/", "vocabulary_size", format.vocabulary);
  if (!format.vocabulary_checksum.empty())
    file_->set_attribute("/", vocabulary_checksum_name, format.vocabulary_checksum);
  file_->set_attribute("/", "sequence_length", format.sequence_length);
  file_->set_attribute("/", "max_predictions", format.masked_length);
  file_->set_attribute("/", "cls_id", format.special.classify);
  file_->set_attribute("/", "sep_id", format.special.separate);
  file_->set_attribute("/", "mask_id", format.special.mask);
  pending_.reserve(chunk_rows, format);
}

ShardWriter::~ShardWriter() {
  if (!file_) return;
  file_.reset();
  std::error_code ignored;  // a destructor cannot report the error
  std::filesystem::remove(partial_, ignored);
}

void ShardWriter::append(Sample const& sample) {
  auto const length = static_cast<std::int64_t>(sample.token_ids.size());
  auto const predictions = static_cast<std::int64_t>(sample.masked_positions.size());
  require(length >= 1 && length <= format_.sequence_length, "sample longer than the shard's sequence length");
  require(sample.segment_ids.size() == sample.token_ids.size(), "a segment id for each token");
  require(predictions <= format_.masked_length && sample.masked_ids.size() == sample.masked_positions.size(),
          "more predictions than the shard holds");
  require(format_.static_masks || predictions == 0, "predictions in a shard of dynamic masks");
  auto const put = [](auto& to, auto const& from, std::int64_t width) {
    to.insert(to.end(), from.begin(), from.end());
    to.resize(to.size() - from.size() + static_cast<std::size_t>(width), 0);
  };
  put(pending_.token_ids, sample.token_ids, format_.sequence_length);
  put(pending_.segment_ids, sample.segment_ids, format_.sequence_length);
  put(pending_.mask, std::vector<std::int8_t>(sample.token_ids.size(), 1), format_.sequence_length);
  put(pending_.masked_positions, sample.masked_positions, format_.masked_length);
  put(pending_.masked_ids, sample.masked_ids, format_.masked_length);
  pending_.next_labels.push_back(sample.random_next ? 1 : 0);
  if (++pending_.rows == chunk_rows_) write_pending();
}

void ShardWriter::write_pending() {
  std::int64_t const n = pending_.rows;
  if (n == 0) return;
  file_->append_rows<std::int32_t>("input_ids", n, pending_.token_ids);
  file_->append_rows<std::int8_t>("input_mask", n, pending_.mask);
  file_->append_rows<std::int8_t>("segment_ids", n, pending_.segment_ids);
  file_->append_rows<std::int32_t>("masked_lm_positions", n, pending_.masked_positions);
  file_->append_rows<std::int32_t>("masked_lm_ids", n, pending_.masked_ids);
  file_->append_rows<std::int8_t>("next_sentence_labels", n, pending_.next_labels);
  written_ += n;
  pending_.clear();
}

void ShardWriter::close() {
  write_pending();
  file_->close();
  std::error_code status;
  std::filesystem::rename(partial_, path_, status);
  if (status) throw RuntimeError(path_ + ": cannot be written: " + status.message());
  file_.reset();
}

}  // namespace bellwether::input
