// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bellwether::input {

class Hdf5File;

/// Counts that `prepare` makes of the texts of a set of shards. Every shard of the set stores them as attributes.
/// `check` repeats the warnings from them, and a run compares its loss with what a model without context reaches.
struct CorpusFacts {
  std::int64_t documents = 0, sentences = 0;  ///< of the set
  std::int64_t tokens = 0, unknown = 0;       ///< of the set; unknown: [UNK]
  std::int64_t bytes = 0, overlong = 0;       ///< bytes of the set's text; those in words of over 100 characters
  std::int64_t longest = 0, median = 0;       ///< tokens of the longest document; median over documents
  std::int64_t rows = 0, random_next = 0;     ///< of the set; random_next: rows whose second part is random
  std::int64_t lone_rows = 0;                 ///< rows whose random second part is from the same document
  std::int64_t vocabulary = 0;                ///< tokens in the vocabulary
  std::int64_t vocabulary_asked = 0;          ///< size that --train-vocab requested; 0: read from a file
  std::int64_t cased = 0;                     ///< tokens of the vocabulary with capital letters
  std::int64_t accented = 0;                  ///< tokens of the vocabulary with accents; 0 where not recorded
  std::int64_t words = 0;                     ///< tokens that begin a word; 0 where not recorded
  std::int64_t alphabet = 0;                  ///< characters that --train-vocab kept; 0: read from a file
  std::int64_t distinct = 0;                  ///< distinct characters of the texts, from which it chose
  std::int64_t characters = 0;                ///< characters of the texts without white space; 0: read from a file
  std::int64_t rare = 0;                      ///< those in words that became [UNK] because of a rare character
  std::int64_t letters = 0;                   ///< of the texts; see CharacterCounts for this one and the next four
  std::int64_t accents = 0;                   ///< left out
  std::int64_t signs = 0;                     ///< vowel signs and other marks, left out
  std::int64_t unreadable = 0;                ///< private-use characters and U+FFFD, left out
  std::int64_t separators = 0;                ///< zero-width spaces and non-joiners in words, left out
  std::int64_t letterless = 0;                ///< tokens without a letter: numbers, punctuation and symbols
  double duplicates = 0;                      ///< share of documents that repeat another one exactly
  double repeated = 0;           ///< share of the text in lines that occur more than ten times; 0 where not recorded
  double frequency_loss = 0;     ///< nats per token: see frequency_loss()
  double context_free_loss = 0;  ///< nats per token: see context_free_loss(); 0 where not recorded
  bool operator==(CorpusFacts const&) const = default;
};

/// Places in the texts that warnings name, as "file:line"; empty where not known.
struct CorpusPlaces {
  std::string longest;   ///< the longest document
  std::string repeated;  ///< the repeated line with the most bytes
};

/// Returns warnings about data that is poor for BERT. Each has its number, its likely cause and what to do.
std::vector<std::string> corpus_warnings(CorpusFacts const& facts, CorpusPlaces const& places = {});

/// Stores `facts` in a complete shard. \throws RuntimeError if the file cannot be written.
void write_corpus_facts(std::string const& shard, CorpusFacts const& facts);
/// Returns the facts of a shard. Returns nothing if it has none, like shards of other programs and of earlier versions,
/// or if corpus_facts_fault() reports an impossible one.
std::optional<CorpusFacts> read_corpus_facts(Hdf5File const& shard);
/// Returns the first impossible fact of a shard, with its attribute; empty if there is none. Impossible are shares
/// above 1, values that are not finite, counts below 0 and wrong types.
std::string corpus_facts_fault(Hdf5File const& shard);

/// Collects the facts of the shards of one set, which may come from several calls of `prepare`.
class SetFacts {
 public:
  /// Adds the facts of the shard `path`, which holds `rows` rows.
  void add(CorpusFacts const& facts, std::string const& path, std::int64_t rows);
  /// Adds counts of a shard without facts: rows, random_next, tokens and unknown; the other members are 0.
  void add_counted(CorpusFacts const& counted);
  std::vector<std::string> warnings() const;
  /// Returns one sentence for each corpus whose number of rows differs from what `prepare` recorded in every shard.
  std::vector<std::string> row_warnings() const;
  /// Return the mean of the corpora's losses, weighted by their tokens in this set. Shards without facts do not count.
  /// 0: not known, because no shard has facts, or because a corpus does not record this loss.
  double frequency_loss() const { return mean(&CorpusFacts::frequency_loss); }
  double context_free_loss() const { return mean(&CorpusFacts::context_free_loss); }

 private:
  struct Corpus {
    CorpusFacts facts;
    std::string first;      ///< path of its first shard
    std::int64_t rows = 0;  ///< rows in the shards of this set
  };
  double mean(double CorpusFacts::*loss) const;

  std::vector<Corpus> corpora_;  ///< distinct corpora, in the order of the shards
  CorpusFacts others_;           ///< counts of shards without facts
};

}  // namespace bellwether::input
