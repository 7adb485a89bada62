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

/// The options of `prepare`.
struct PrepareOptions {
  std::vector<std::string> texts;       ///< files, plain or gzip-compressed, or "-"; blank lines between documents
  std::string vocabulary;               ///< file to use, or to write where one is trained
  std::int64_t trained_vocabulary = 0;  ///< tokens of the vocabulary to train; 0: read the file
  std::string out;                      ///< folder to make; empty: only train a vocabulary
  std::int64_t sequence_length = 128;   ///< S
  std::int64_t predictions = 0;         ///< most a sequence; 0: 15 % of S, rounded up to a multiple of 4
  std::int64_t duplicates = 1;          ///< passes over the corpus, each with other pairs
  bool static_masks = false;
  bool wrapped = false;  ///< lines are wrapped: sentences go on over line ends
  bool strict = false;   ///< warnings are errors
  double heldout = 0;    ///< share of documents kept apart, chosen by their text and the seed
  std::int64_t shard_rows = 32768;
  std::int64_t window_tokens = 1 << 23;  ///< documents among which pairs are drawn and rows are shuffled
  std::uint64_t seed = 1;
  int threads = 1;
};

struct PrepareProgress {
  std::string_view stage;
  std::int64_t bytes_read = 0, bytes_total = 0;  ///< of the texts as they lie on disk
};

struct PrepareHooks {
  std::function<void(PrepareProgress const&)> progress;  ///< called between blocks
  std::function<bool()> stop;  ///< asked many times a second; true: give up and leave nothing behind
};

struct PrepareSummary {
  std::int64_t vocabulary = 0;  ///< tokens in it
  CorpusFacts train, heldout;
  std::int64_t train_shards = 0, heldout_shards = 0;
  std::int64_t train_row_tokens = 0, heldout_row_tokens = 0;  ///< of all rows, without padding
  std::vector<std::string> warnings;                          ///< what is poor in the texts, with its likely cause
  bool stopped = false;
};

/// Turns texts into shards: OUT/train_00000.h5 and so on, OUT/heldout/heldout_00000.h5 and so on, OUT/vocab.txt. All of
/// it is made in OUT.partial, which becomes OUT at the end and is removed if anything fails; a trained vocabulary's own
/// file appears with it. Memory: a window of documents for each set, whatever the size of the corpus. Rows depend on
/// texts, vocabulary, options and seed, not on the number of threads.
/// \throws InputError for texts, vocabulary or options that cannot be used; with `strict`, also with every warning.
/// \throws RuntimeError where the disk refuses.
PrepareSummary prepare(PrepareOptions const& options, PrepareHooks const& hooks);

}  // namespace bellwether::input
