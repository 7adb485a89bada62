// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/random/random.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bellwether::input {

/// A window of the corpus from which pairs are drawn: documents as token ids, one after the other, each split into
/// segments (sentences). It bounds the memory, whatever the size of the corpus.
class DocumentWindow {
 public:
  /// Splits segments of more than `longest_segment` tokens into equal parts of at most half that length.
  explicit DocumentWindow(std::int64_t longest_segment) : longest_segment_(longest_segment) {}

  void start_document();
  /// Appends a segment to the last document. An empty segment does nothing.
  void add_segment(std::span<std::int32_t const> ids);
  void clear();

  std::int64_t tokens() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t documents() const { return static_cast<std::int64_t>(documents_.size()); }
  std::span<std::int32_t const> ids() const { return ids_; }

  struct Segment {
    std::uint32_t begin, count;  ///< tokens, offsets in ids()
  };
  /// Returns the segments of document `index`. Each begins where the one before it ends.
  std::span<Segment const> document(std::int64_t index) const;

 private:
  struct Extent {
    std::uint32_t begin, count;  ///< indices of segments
  };
  std::int64_t longest_segment_;
  std::vector<std::int32_t> ids_;
  std::vector<Segment> segments_;
  std::vector<Extent> documents_;
  bool pending_start_ = true;  ///< the next segment begins a document; documents without tokens do not count
};

/// One training example: A and B are ranges of a window's ids.
struct SentencePair {
  std::uint32_t first_begin, first_count;    ///< A
  std::uint32_t second_begin, second_count;  ///< B
  bool random_next;                          ///< B is from another place and does not follow A
};

/// Parameters for drawing pairs (Devlin et al., arXiv 1810.04805, appendix A.2, and create_pretraining_data.py).
struct PairRule {
  std::int64_t sequence_length = 128;  ///< S, with [CLS] and two [SEP]
  double short_probability = 0.1;      ///< of documents packed to a uniformly random shorter length
  double random_probability = 0.5;     ///< of pairs whose B is from another document
};

/// Draws the pairs of one pass over all documents of the window and shuffles them. The random numbers depend only on
/// `seed`, `window` and `pass`, so that results do not depend on threads or files. A window with one document takes
/// random segments from that document, as the original procedure does after ten tries. `poll`, if given, is called for
/// each pair; an exception from it ends the work.
std::vector<SentencePair> draw_pairs(DocumentWindow const& documents, PairRule const& rule, std::uint64_t seed,
                                     std::int64_t window, std::int64_t pass, std::function<void()> const& poll = {});

}  // namespace bellwether::input
