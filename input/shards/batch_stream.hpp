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

/// What a set of shards holds, found by opening each and range-checking its attributes and shapes.
struct ShardSetInfo {
  std::int64_t rows = 0;
  std::int64_t sequence_length = 0;  ///< S
  std::int64_t masked_length = 0;    ///< most predictions a sequence
  bool static_masks = false;
  bool unmasked = false;            ///< static masks, but none in the first rows of any shard
  VocabularyRecord vocabulary;      ///< of the shards that record one
  std::uint64_t fingerprint = 0;    ///< of names, row counts and kind of masks: a resumed run must see the same rows
  double frequency_loss = 0;        ///< of the corpus (CorpusFacts); 0: no shard says
  std::int64_t bytes = 0;           ///< of all files: others where one was mended, compressed anew or made differently
  std::uint64_t content = 0;        ///< of row counts and first labels, whatever the names: other rows have another one
  std::vector<OpenedShard> shards;  ///< in the order of files
  std::vector<std::string> warnings;         ///< what may be wrong and can be trained on, one sentence each
  std::vector<std::string> corpus_warnings;  ///< what is poor in the texts, one sentence each (see corpus_facts.hpp)
};

/// A fixed share of the stream: which samples of each global batch this rank takes, in which passes.
struct StreamGeometry {
  int rank = 0, size = 1;
  std::int64_t global = 32, micro = 32;
  std::uint64_t seed = 1;
  std::int64_t positions = 0;  ///< most tokens a sequence; 0: any number
  std::int64_t vocabulary = 30522;
};

/// Global batches in order. Sample g of epoch e = g div rows is drawn by a seeded permutation of e, by pieces of
/// shards, then inside a window of them. The stream depends on neither ranks, micro-batch nor restarts; next() deals a
/// global batch over ranks by length and cuts this rank's share into passes. Reading runs ahead on the I/O thread.
class BatchStream {
 public:
  /// `shards` as in the deck: files or folders. `io` outlives the stream.
  /// \throws InputError with every fault of every shard that does not fit.
  BatchStream(IoThread& io, std::vector<std::string> const& shards, DataConfig const& config,
              StreamGeometry const& geometry);
  ~BatchStream();
  ShardSetInfo const& info() const;
  /// \throws InputError naming file, data set and row of the first value out of range.
  model::StepBatch next();
  std::int64_t position() const;  ///< running sample number g of the next global batch: goes into the checkpoint
  void seek(std::int64_t position);
  double waited_seconds() const;      ///< time next() has waited for data since construction
  std::int64_t buffer_bytes() const;  ///< most memory that rows waiting for their turn take
  std::int64_t rows_read() const;     ///< rows asked of the shards since construction, read-ahead included

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What evaluations run over.
struct HeldoutSet {
  ShardSetInfo info;  ///< of all shards, whatever share of their rows is in `batches`
  std::vector<model::StepBatch> batches;
};

/// The first `sequences` rows (or all, where there are fewer) of held-out shards, in the order of files and rows, in
/// batches of geometry.global; the last may be smaller. Dynamic masks are drawn from (seed, row), so every evaluation
/// of a run sees the same masked tokens, on any number of ranks.
/// \throws InputError as BatchStream does.
HeldoutSet heldout_batches(IoThread& io, std::vector<std::string> const& shards, DataConfig const& config,
                           StreamGeometry const& geometry, std::int64_t sequences);

}  // namespace bellwether::input
