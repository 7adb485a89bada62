// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/random/random.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bellwether::input {

/// Documents as token ids, one after the other, each cut into segments (sentences): what pairs are drawn from. A window
/// of the corpus, so that memory does not grow with it.
class DocumentWindow {
 public:
  /// Segments of more than `longest_segment` tokens are cut into equal parts of at most half of that.
  explicit DocumentWindow(std::int64_t longest_segment) : longest_segment_(longest_segment) {}

  void start_document();
  /// Appends to the last document; without tokens it does nothing.
  void add_segment(std::span<std::int32_t const> ids);
  void clear();

  std::int64_t tokens() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t documents() const { return static_cast<std::int64_t>(documents_.size()); }
  std::span<std::int32_t const> ids() const { return ids_; }

  struct Segment {
    std::uint32_t begin, count;  ///< tokens, in ids()
  };
  /// Segments of document `index`, each beginning where the one before ends.
  std::span<Segment const> document(std::int64_t index) const;

 private:
  struct Extent {
    std::uint32_t begin, count;  ///< segments
  };
  std::int64_t longest_segment_;
  std::vector<std::int32_t> ids_;
  std::vector<Segment> segments_;
  std::vector<Extent> documents_;
  bool pending_start_ = true;  ///< the next segment opens a document: documents without tokens leave no trace
};

/// One example: A and B are stretches of a window's ids.
struct SentencePair {
  std::uint32_t first_begin, first_count;    ///< A
  std::uint32_t second_begin, second_count;  ///< B
  bool random_next;                          ///< B is from another place and does not follow A
};

/// What a pair is drawn by (Devlin et al., arXiv 1810.04805, appendix A.2, and create_pretraining_data.py).
struct PairRule {
  std::int64_t sequence_length = 128;  ///< S, with [CLS] and two [SEP]
  double short_probability = 0.1;      ///< of documents packed to a uniform random length instead
  double random_probability = 0.5;     ///< of pairs whose B is from another document
};

/// Pairs of one pass over all documents of the window, shuffled. `window` and `pass` number them: with the seed they
/// select the random numbers, so that results depend on neither threads nor files. A window with one document takes
/// random segments from that document, as the original procedure does after ten tries. `poll`, if any, is called for
/// each pair; what it throws ends the work.
std::vector<SentencePair> draw_pairs(DocumentWindow const& documents, PairRule const& rule, std::uint64_t seed,
                                     std::int64_t window, std::int64_t pass, std::function<void()> const& poll = {});

}  // namespace bellwether::input
