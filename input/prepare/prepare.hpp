// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/corpus_facts.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether::input {

/// Options of the command `prepare`.
struct PrepareOptions {
  std::vector<std::string> texts;       ///< files, plain or gzip-compressed, or "-"; blank lines separate documents
  std::string vocabulary;               ///< file to read, or to write if a vocabulary is trained
  std::int64_t trained_vocabulary = 0;  ///< tokens of the vocabulary to train; 0: read the file
  std::int64_t alphabet = 0;            ///< characters that it keeps; 0: the default of TrainerRule
  std::string out;                      ///< folder to create; empty: only train a vocabulary
  std::int64_t sequence_length = 128;   ///< S
  std::int64_t predictions = 0;         ///< maximum per sequence; 0: 15 % of S, rounded up to a multiple of 4
  std::int64_t duplicates = 1;          ///< passes over the corpus, each with different pairs
  bool static_masks = false;
  bool wrapped = false;  ///< lines are wrapped: sentences continue across line ends
  bool strict = false;   ///< warnings are errors
  double heldout = 0;    ///< share of documents to hold out, chosen by their text and the seed
  std::int64_t shard_rows = 32768;
  std::int64_t window_tokens = 1 << 23;  ///< tokens per window: pairs and row order are drawn within it
  std::uint64_t seed = 1;
  int threads = 1;
};

struct PrepareProgress {
  std::string_view stage;
  std::int64_t bytes_read = 0, bytes_total = 0;  ///< of the texts, as stored on disk
};

struct PrepareHooks {
  std::function<void(PrepareProgress const&)> progress;  ///< called between blocks
  std::function<bool()> stop;  ///< polled many times a second; true: stop and leave nothing behind
};

struct PrepareSummary {
  std::int64_t vocabulary = 0;  ///< number of tokens
  CorpusFacts train, heldout;
  std::int64_t train_shards = 0, heldout_shards = 0;
  std::int64_t train_row_tokens = 0, heldout_row_tokens = 0;  ///< of all rows, without padding
  std::vector<std::string> warnings;                          ///< weaknesses of the texts, with their likely causes
  bool stopped = false;
};

/// Converts texts into shards: OUT/train_00000.h5 and so on, OUT/heldout/heldout_00000.h5 and so on, OUT/vocab.txt. It
/// writes into OUT.partial, which is renamed to OUT at the end and removed after any failure. A trained vocabulary's
/// own file appears at the same time. Memory: one window of documents per set, whatever the size of the corpus. The
/// number of threads does not change the rows.
///
/// \throws InputError for texts, vocabulary or options that cannot be used; with `strict`, also for every warning.
/// \throws RuntimeError if a file cannot be written.
PrepareSummary prepare(PrepareOptions const& options, PrepareHooks const& hooks);

}  // namespace bellwether::input
