// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/deck/sections.hpp"
#include "input/shards/shard_copies.hpp"
#include "input/shards/shards.hpp"
#include "input/shards/vocabulary_record.hpp"
#include "model/batch/batch.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bellwether::input {

class IoThread;

/// Properties of a set of shards, found by opening each shard and checking its attributes and shapes.
struct ShardSetInfo {
  std::int64_t rows = 0;
  std::int64_t sequence_length = 0;  ///< S
  std::int64_t masked_length = 0;    ///< maximum predictions per sequence
  bool static_masks = false;
  bool unmasked = false;          ///< static masks, but no masked position in the first rows of any shard
  VocabularyRecord vocabulary;    ///< taken from the shards that record one
  std::uint64_t fingerprint = 0;  ///< hash of names, row counts and kind of masks: a resumed run needs the same rows
  double frequency_loss = 0;      ///< of the corpora (SetFacts); 0: not known
  double context_free_loss = 0;   ///< the same
  std::int64_t bytes = 0;         ///< of all files; changes if a file is repaired, recompressed or prepared anew
  std::uint64_t content = 0;  ///< hash of row counts and first labels, independent of names; changes if the rows change
  std::vector<OpenedShard> shards;           ///< in the order of files
  std::vector<std::string> warnings;         ///< possible mistakes that do not prevent training, one sentence each
  std::vector<std::string> corpus_warnings;  ///< weaknesses of the texts, one sentence each (see corpus_facts.hpp)
};

/// Defines which samples of each global batch this rank takes, and their micro-batches.
struct StreamGeometry {
  int rank = 0, size = 1;
  std::int64_t global = 32, micro = 32;
  std::uint64_t seed = 1;
  std::int64_t positions = 0;  ///< maximum tokens per sequence; 0: no limit
  std::int64_t vocabulary = 30522;
};

/// Yields global batches in order. The samples of epoch e = g div rows are ordered by a seeded permutation: of pieces
/// of shards, then of the rows in a window of pieces. The order does not depend on ranks, micro-batch size or restarts.
/// next() distributes a global batch over ranks by sequence length and splits this rank's share into micro-batches.
/// Reading ahead runs on the I/O thread.
class BatchStream {
 public:
  /// `shards`: files or folders, as in the deck. `io` must outlive the stream.
  /// \throws InputError with every fault of every shard that does not fit.
  BatchStream(IoThread& io, std::vector<std::string> const& shards, DataConfig const& config,
              StreamGeometry const& geometry);
  ~BatchStream();
  ShardSetInfo const& info() const;
  /// \throws InputError naming file, data set and row of the first value out of range.
  model::StepBatch next();
  std::int64_t position() const;  ///< running sample number g of the next global batch; stored in checkpoints
  void seek(std::int64_t position);
  double waited_seconds() const;      ///< time that next() waited for data since construction
  std::int64_t buffer_bytes() const;  ///< maximum memory of the rows that are buffered
  std::int64_t rows_read() const;     ///< rows requested from the shards since construction, including read-ahead

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The batches that evaluations use.
struct HeldoutSet {
  ShardSetInfo info;  ///< of all shards, even if `batches` holds only part of their rows
  std::vector<model::StepBatch> batches;
};

/// Reads the first `sequences` rows of the held-out shards, or all if there are fewer, in the order of files and rows.
/// Batches have geometry.global rows; the last may be smaller. Dynamic masks depend only on (seed, row), so that every
/// evaluation of a run masks the same tokens, on any number of ranks.
/// \throws InputError as BatchStream does.
HeldoutSet heldout_batches(IoThread& io, std::vector<std::string> const& shards, DataConfig const& config,
                           StreamGeometry const& geometry, std::int64_t sequences);

}  // namespace bellwether::input
