// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/hdf5/hdf5_file.hpp"
#include "input/shards/corpus_facts.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bellwether::input {

/// Special token ids that masking needs: [MASK] replaces tokens; [CLS] and [SEP] are never replaced.
struct SpecialIds {
  std::int64_t classify = 101, separate = 102, mask = 103;
  bool operator==(SpecialIds const&) const = default;
};

/// Properties of every row of a shard.
struct ShardFormat {
  std::int64_t sequence_length = 128;  ///< S, tokens
  std::int64_t masked_length = 20;     ///< maximum predictions per sequence
  std::int64_t vocabulary = 30522;     ///< V; 0: not recorded, for example in shards of other programs
  bool static_masks = true;            ///< false: input_ids are unmasked, masks are drawn at training time
  SpecialIds special;
  std::string vocabulary_checksum{};  ///< vocabulary_checksum(); empty: not recorded
  bool ours = false;                  ///< written by this program: rows begin with [CLS] and end with [SEP]
  bool operator==(ShardFormat const&) const = default;
};

/// One row: [CLS] A [SEP] B [SEP] without padding.
struct Sample {
  std::vector<std::int32_t> token_ids;         ///< (length); already masked if masks are static
  std::vector<std::int8_t> segment_ids;        ///< (length) 0 or 1
  std::vector<std::int32_t> masked_positions;  ///< (predictions) ascending; empty if masks are dynamic
  std::vector<std::int32_t> masked_ids;        ///< (predictions) original token ids
  bool random_next = false;                    ///< B does not follow A
};

/// Rows of a shard as stored in the file, row-major.
struct ShardRows {
  std::int64_t rows = 0, sequence_length = 0, masked_length = 0;
  std::vector<std::int32_t> token_ids;         ///< (rows, S)
  std::vector<std::int8_t> mask;               ///< (rows, S) 1: a token, 0: padding
  std::vector<std::int8_t> segment_ids;        ///< (rows, S)
  std::vector<std::int32_t> masked_positions;  ///< (rows, masked_length) padded with 0
  std::vector<std::int32_t> masked_ids;        ///< (rows, masked_length)
  std::vector<std::int8_t> next_labels;        ///< (rows)
  std::vector<std::int32_t> lengths;           ///< (rows) tokens, from the mask
  std::vector<std::int32_t> predictions;       ///< (rows) masked positions in use

  void reserve(std::int64_t count, ShardFormat const& format);
  void clear();
};

/// Writes one shard in the HDF5 layout of NVIDIA's BERT data, with six data sets. The file appears under its name after
/// close() has succeeded. Use it on the I/O thread.
class ShardWriter {
 public:
  /// `chunk_rows`: rows that are compressed together. \throws RuntimeError if the file cannot be created.
  ShardWriter(std::string path, ShardFormat const& format, std::int64_t chunk_rows = 1024);
  /// Removes the file if close() has not completed it.
  ~ShardWriter();
  ShardWriter(ShardWriter&&) noexcept = default;
  ShardWriter& operator=(ShardWriter&&) = delete;
  /// \throws InternalError if a sample violates the format.
  void append(Sample const& sample);
  std::int64_t rows() const { return written_ + pending_.rows; }
  void close();

 private:
  void write_pending();
  std::string path_, partial_;
  ShardFormat format_;
  std::int64_t chunk_rows_, written_ = 0;
  ShardRows pending_;
  std::unique_ptr<Hdf5File> file_;
};

/// Counts over the first rows of a shard, made without range checks.
struct FirstRows {
  std::int64_t tokens = 0, unknown = 0;     ///< unknown: the id below [CLS], [UNK] in BERT's vocabularies and in ours
  std::int64_t predictions = 0, shown = 0;  ///< shown: predicted ids that are visible in input_ids at their positions
  std::int64_t rows = 0, unmasked = 0;      ///< unmasked: rows without a masked position; 0 if masks are dynamic
  std::int64_t random_next = 0, pairs = 0;  ///< rows with label 1; rows with tokens of segment 1
};

/// Bounds on ids and segments, set by the model, whose embeddings they index, or by another reader.
struct ShardBounds {
  std::int64_t vocabulary = 30522;
  std::int64_t segments = 2;
  char const* vocabulary_of = " (the model's vocabulary)";  ///< appended to the range of ids in messages; may be empty
};

/// Reads and range-checks rows of a shard of this or another program. Any integer width is accepted; without this
/// program's attributes masks are static. Use it on the I/O thread.
class ShardReader {
 public:
  /// \throws InputError naming file and data set if one is missing or has a wrong shape.
  explicit ShardReader(std::string const& path);
  std::string const& path() const { return file_.path(); }
  ShardFormat const& format() const { return format_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t chunk_rows() const { return chunk_rows_; }  ///< rows compressed together; 1 if not chunked
  /// Returns the data sets that were created but never written. They read as zeros.
  std::vector<std::string> const& unwritten() const { return unwritten_; }
  /// Reads rows [first, first + count).
  /// \throws InputError naming file, data set, row and column of the first value out of range.
  ShardRows read(std::int64_t first, std::int64_t count, ShardBounds const& bounds) const;
  /// Returns true if one of the first `count` rows has a masked position.
  /// \throws InputError if there is one although the shard declares dynamic masks.
  bool has_predictions(std::int64_t count) const;
  /// Returns token ids of rows [first, first + count) without range checks, for comparing shards.
  std::vector<std::int32_t> token_ids(std::int64_t first, std::int64_t count) const;
  /// Returns token ids of rows [first, first + count) as they were before masking, and -1 after the tokens of a row.
  /// Makes no range checks; for comparing texts.
  std::vector<std::int32_t> plain_ids(std::int64_t first, std::int64_t count) const;
  FirstRows first_rows(std::int64_t count) const;  ///< of at most `count` rows
  /// Returns XXH3 of the next-sentence labels of the first `count` rows, or of all if there are fewer.
  std::uint64_t label_checksum(std::int64_t count) const;
  std::int64_t random_next(std::int64_t count) const;  ///< rows among the first `count` with label 1
  std::optional<CorpusFacts> corpus_facts() const { return read_corpus_facts(file_); }
  std::string corpus_facts_fault() const { return input::corpus_facts_fault(file_); }

 private:
  Hdf5File file_;
  ShardFormat format_;
  std::int64_t rows_ = 0, chunk_rows_ = 1;
  std::vector<std::string> unwritten_;
};

}  // namespace bellwether::input
