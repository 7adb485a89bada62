// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bellwether::input {

class Hdf5File;

/// What `prepare` counted in the texts of a set of shards. Every shard of the set records it as attributes, so that
/// `check` can repeat the warnings and a run can compare its loss with that of word frequencies.
struct CorpusFacts {
  std::int64_t documents = 0, sentences = 0;  ///< of the set
  std::int64_t tokens = 0, unknown = 0;       ///< of the set; unknown: [UNK]
  std::int64_t bytes = 0, overlong = 0;       ///< bytes of the set's text, and those in words of over 100 characters
  std::int64_t longest = 0, median = 0;       ///< tokens of the longest and of the median document
  std::int64_t rows = 0, random_next = 0;     ///< of the set; random_next: rows whose second part does not follow
  std::int64_t lone_rows = 0;                 ///< rows whose random second part is of the same document
  std::int64_t vocabulary = 0;                ///< tokens of the vocabulary
  std::int64_t vocabulary_asked = 0;          ///< size that --train-vocab asked for; 0: read from a file
  std::int64_t cased = 0;                     ///< tokens of the vocabulary with capital letters
  std::int64_t accented = 0;                  ///< tokens of the vocabulary with accents; 0 where not recorded
  std::int64_t words = 0;                     ///< tokens that begin a word; 0 where not recorded
  double duplicates = 0;                      ///< share of documents that repeat another one exactly
  double frequency_loss = 0;                  ///< nats a token: see frequency_loss()
  bool operator==(CorpusFacts const&) const = default;
};

/// Warnings about data that is poor for BERT, each with its number, its likely cause and what to do.
/// \param longest_at "file:line" of the longest document, if known.
std::vector<std::string> corpus_warnings(CorpusFacts const& facts, std::string const& longest_at = "");

/// Records `facts` in a complete shard. \throws RuntimeError where the disk refuses.
void write_corpus_facts(std::string const& shard, CorpusFacts const& facts);
/// The facts of a shard; nothing where it has none, as shards of other programs and of earlier versions, or where
/// corpus_facts_fault() tells of one that cannot be.
std::optional<CorpusFacts> read_corpus_facts(Hdf5File const& shard);
/// The first fact of a shard that cannot be, with its attribute: a share above 1, what is not finite, a count below 0,
/// or another type. Empty where there is none.
std::string corpus_facts_fault(Hdf5File const& shard);

/// The facts of the shards of one set, which several calls of `prepare` may have made.
class SetFacts {
 public:
  /// Facts of the shard `path`, which holds `rows` rows.
  void add(CorpusFacts const& facts, std::string const& path, std::int64_t rows);
  /// What was counted in a shard without facts: rows, random_next, tokens and unknown; the rest is 0.
  void add_counted(CorpusFacts const& counted);
  std::vector<std::string> warnings() const;
  /// One sentence for each corpus of which other rows are here than `prepare` wrote: every shard records their number.
  std::vector<std::string> row_warnings() const;
  double frequency_loss() const {
    return corpora_.empty() ? 0 : corpora_.front().facts.frequency_loss;
  }  ///< 0: not known

 private:
  struct Corpus {
    CorpusFacts facts;
    std::string first;      ///< of its shards
    std::int64_t rows = 0;  ///< that are here
  };
  std::vector<Corpus> corpora_;  ///< each once, in the order of the shards
  CorpusFacts others_;           ///< of shards without facts: their rows alone
};

/// The masked-LM loss of a model that knows how frequent words are and nothing else, in nats a token. It is the cross
/// entropy of the tokens in `seen` under the frequencies in `known` (Shannon, A Mathematical Theory of Communication,
/// 1948, section 6). Both hold one count for each token of the vocabulary. Counts in `known` are raised by one, so that
/// no token is impossible. Returns 0 if `seen` is empty.
double frequency_loss(std::vector<std::int64_t> const& seen, std::vector<std::int64_t> const& known);

}  // namespace bellwether::input
