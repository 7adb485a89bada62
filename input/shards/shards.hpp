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

/// Ids that masking must know: [MASK] replaces, [CLS] and [SEP] are never replaced.
struct SpecialIds {
  std::int64_t classify = 101, separate = 102, mask = 103;
  bool operator==(SpecialIds const&) const = default;
};

/// What holds for every row of a shard.
struct ShardFormat {
  std::int64_t sequence_length = 128;  ///< S, tokens
  std::int64_t masked_length = 20;     ///< most predictions a sequence
  std::int64_t vocabulary = 30522;     ///< V; 0: not recorded, as in shards of other programs
  bool static_masks = true;            ///< false: input_ids are unmasked, masks are drawn at training time
  SpecialIds special;
  std::string vocabulary_checksum{};  ///< vocabulary_checksum(); empty: not recorded
  bool ours = false;                  ///< read from a shard of this program: rows begin with [CLS] and end with [SEP]
  bool operator==(ShardFormat const&) const = default;
};

/// One row: [CLS] A [SEP] B [SEP] without padding.
struct Sample {
  std::vector<std::int32_t> token_ids;         ///< (length), masked where static
  std::vector<std::int8_t> segment_ids;        ///< (length) 0 or 1
  std::vector<std::int32_t> masked_positions;  ///< (predictions) ascending; empty where masks are dynamic
  std::vector<std::int32_t> masked_ids;        ///< (predictions) original token ids
  bool random_next = false;                    ///< B does not follow A
};

/// Rows of a shard as they lie in the file, row-major.
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

/// Writes one shard in the six-data-set HDF5 layout of NVIDIA's BERT data. The file appears under its name when
/// close() has succeeded. To be used on the I/O thread.
class ShardWriter {
 public:
  /// \throws RuntimeError where the file cannot be made. `chunk_rows` rows are compressed together.
  ShardWriter(std::string path, ShardFormat const& format, std::int64_t chunk_rows = 1024);
  /// Removes what close() has not completed.
  ~ShardWriter();
  ShardWriter(ShardWriter&&) noexcept = default;
  ShardWriter& operator=(ShardWriter&&) = delete;
  /// \throws InternalError where a sample breaks the format.
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

/// What the first rows of a shard hold, counted without range checks.
struct FirstRows {
  std::int64_t tokens = 0, unknown = 0;     ///< unknown: the id before [CLS], [UNK] in BERT's vocabularies and in ours
  std::int64_t predictions = 0, shown = 0;  ///< shown: predicted ids that input_ids holds at their positions
};

/// Bounds that the model sets, or whoever reads: ids and segments index its embeddings.
struct ShardBounds {
  std::int64_t vocabulary = 30522;
  std::int64_t segments = 2;
  char const* vocabulary_of = " (the model's vocabulary)";  ///< said behind the range of ids; may be empty
};

/// Reads and range-checks rows of a shard, ours or another program's: any integer width; without our attributes masks
/// are taken as static. To be used on the I/O thread.
class ShardReader {
 public:
  /// \throws InputError naming file and data set where one is missing or of another shape.
  explicit ShardReader(std::string const& path);
  std::string const& path() const { return file_.path(); }
  ShardFormat const& format() const { return format_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t chunk_rows() const { return chunk_rows_; }  ///< rows compressed together; 1 where not chunked
  /// Data sets that were made and never written: they read as zeros.
  std::vector<std::string> const& unwritten() const { return unwritten_; }
  /// Rows [first, first + count).
  /// \throws InputError naming file, data set, row and column of the first value out of range.
  ShardRows read(std::int64_t first, std::int64_t count, ShardBounds const& bounds) const;
  /// Whether one of the first `count` rows has a masked position.
  /// \throws InputError where one has, though masks are said to be dynamic.
  bool has_predictions(std::int64_t count) const;
  /// Token ids of rows [first, first + count), unchecked: for comparing shards.
  std::vector<std::int32_t> token_ids(std::int64_t first, std::int64_t count) const;
  /// Token ids of rows [first, first + count) as they were before masking, and -1 behind the tokens of a row:
  /// unchecked, for comparing texts.
  std::vector<std::int32_t> plain_ids(std::int64_t first, std::int64_t count) const;
  FirstRows first_rows(std::int64_t count) const;  ///< of at most `count` rows
  /// XXH3 of the next-sentence labels of the first `count` rows, or of all where there are fewer.
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
