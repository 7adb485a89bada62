// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/text/text_reader.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

struct XXH3_state_s;

namespace bellwether::input {

/// Estimates the share of items that repeat an earlier one, in bounded memory: if there are many items, it counts only
/// those whose hashes end in zeros. All copies of an item have the same hash, so they are counted together.
class DuplicateCount {
 public:
  explicit DuplicateCount(std::size_t most_kept = std::size_t{1} << 18) : most_kept_(most_kept) {}
  void add(std::uint64_t hash);  ///< hash of the item's content, uniformly distributed
  double share() const;

 private:
  std::size_t most_kept_;
  std::uint64_t mask_ = 0;  ///< items whose hash has any of these bits set are skipped
  std::unordered_map<std::uint64_t, std::int64_t> copies_;
};

/// Median of whole numbers, exact below 64 and within 5 % above. Memory does not depend on the number of values.
class LengthMedian {
 public:
  void add(std::int64_t length);
  std::int64_t median() const;  ///< 0 if there are no values

 private:
  std::vector<std::int64_t> counts_;
  std::int64_t total_ = 0;
};

/// A line of a document: the hash of its letters, its size and its place.
struct LineDigest {
  std::uint64_t hash = 0;
  std::int64_t bytes = 0;
  TextPlace place = {};
};

/// Decides for each document whether it is held out. The decision depends only on the document's whole text and the
/// seed: exact copies get the same decision, regardless of file order. For documents above 8 MiB only the first 8 MiB
/// decide, so that memory stays bounded.
class DocumentSplitter {
 public:
  /// Receives the documents. `begin` starts a document of the training (false) or held-out (true) set; `add` appends
  /// the token ids of a sentence.
  struct Sink {
    std::function<void(bool heldout)> begin;
    std::function<void(std::span<std::int32_t const> ids)> add;
  };
  /// \param heldout share of documents to hold out, 0 to 1.
  DocumentSplitter(double heldout, std::uint64_t seed, Sink sink);
  ~DocumentSplitter();
  DocumentSplitter(DocumentSplitter const&) = delete;
  DocumentSplitter& operator=(DocumentSplitter const&) = delete;

  /// Ends the current document and begins one at `place`. Documents without tokens are not counted.
  void start_document(TextPlace place);
  /// Appends lines to the document. Their sentences follow in the other overload.
  void add(std::span<LineDigest const> lines);
  void add(std::span<std::int32_t const> sentence);
  void finish();  ///< ends the last document

  std::int64_t longest() const { return longest_; }  ///< tokens
  TextPlace longest_at() const { return longest_at_; }
  std::int64_t median() const { return lengths_.median(); }  ///< tokens
  double duplicates() const { return duplicates_.share(); }

 private:
  void decide();
  bool draw(std::uint64_t hash) const;

  double heldout_;
  std::uint64_t seed_;
  Sink sink_;
  XXH3_state_s* state_;
  std::vector<std::int32_t> ids_;  ///< token ids of the document until its set is decided
  std::vector<std::uint32_t> lengths_of_sentences_;
  bool decided_ = false;
  std::int64_t bytes_ = 0, tokens_ = 0;  ///< of the current document
  TextPlace place_, longest_at_;
  std::int64_t longest_ = 0;
  LengthMedian lengths_;
  DuplicateCount duplicates_;
};

}  // namespace bellwether::input
