// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/pairs.hpp"

#include "core/system/error.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace bellwether::input {

void DocumentWindow::start_document() { pending_start_ = true; }

void DocumentWindow::add_segment(std::span<std::int32_t const> ids) {
  if (ids.empty()) return;
  require(ids_.size() + ids.size() <= std::numeric_limits<std::uint32_t>::max(), "a window holds 32-bit offsets");
  if (pending_start_) documents_.push_back({static_cast<std::uint32_t>(segments_.size()), 0});
  pending_start_ = false;
  std::size_t const limit = static_cast<std::size_t>(longest_segment_);
  std::size_t parts = 1;
  if (ids.size() > limit) {
    std::size_t const half = std::max<std::size_t>(1, limit / 2);
    parts = (ids.size() + half - 1) / half;
  }
  for (std::size_t part = 0; part < parts; ++part) {
    std::size_t const begin = ids.size() * part / parts, end = ids.size() * (part + 1) / parts;
    segments_.push_back({static_cast<std::uint32_t>(ids_.size()), static_cast<std::uint32_t>(end - begin)});
    ids_.insert(ids_.end(), ids.begin() + static_cast<std::ptrdiff_t>(begin),
                ids.begin() + static_cast<std::ptrdiff_t>(end));
    ++documents_.back().count;
  }
}

void DocumentWindow::clear() {
  ids_.clear();
  segments_.clear();
  documents_.clear();
  pending_start_ = true;
}

std::span<DocumentWindow::Segment const> DocumentWindow::document(std::int64_t index) const {
  auto const& extent = documents_[static_cast<std::size_t>(index)];
  return std::span(segments_).subspan(extent.begin, extent.count);
}

namespace {

/// A range of tokens; tokens may be cut off at either end.
struct Stretch {
  std::uint32_t begin = 0, count = 0;
};

std::uint32_t tokens_of(std::span<DocumentWindow::Segment const> segments) {
  return segments.empty() ? 0 : segments.back().begin + segments.back().count - segments.front().begin;
}

class PairDrawer {
 public:
  PairDrawer(DocumentWindow const& documents, PairRule const& rule, std::vector<SentencePair>& pairs,
             std::function<void()> const& poll)
      : documents_(documents),
        rule_(rule),
        most_(static_cast<std::uint32_t>(rule.sequence_length - 3)),
        pairs_(pairs),
        poll_(poll) {}

  void draw(std::int64_t document, RandomStream& random) const {
    auto const segments = documents_.document(document);
    std::uint32_t target = most_;
    if (random.real() < rule_.short_probability) target = 2 + random.below(most_ - 1);
    std::size_t begin = 0;
    while (begin < segments.size()) {
      // A chunk is the shortest run of segments that reaches the target length.
      std::size_t end = begin;
      std::uint32_t length = 0;
      while (end < segments.size() && length < target) length += segments[end++].count;
      auto const chunk = segments.subspan(begin, end - begin);
      std::size_t first_segments = 1;
      if (chunk.size() >= 2) first_segments += random.below(static_cast<std::uint32_t>(chunk.size() - 1));
      Stretch first{chunk[0].begin, tokens_of(chunk.first(first_segments))};
      Stretch second;
      bool const is_random = chunk.size() == 1 || random.real() < rule_.random_probability;
      if (is_random) {
        second = elsewhere(document, target > first.count ? target - first.count : 0, random);
        end = begin + first_segments;  // the chunk's unused segments go into the next pair
      } else {
        second = {chunk[first_segments].begin, tokens_of(chunk.subspan(first_segments))};
      }
      truncate(first, second, random);
      pairs_.push_back({first.begin, first.count, second.begin, second.count, is_random});
      begin = end;
      if (poll_) poll_();
    }
  }

 private:
  /// Takes segments from a random place of another document, at least one, until they have `target` tokens.
  Stretch elsewhere(std::int64_t document, std::uint32_t target, RandomStream& random) const {
    std::int64_t other = document;
    for (int tries = 0; tries < 10 && other == document; ++tries)
      other = random.below(static_cast<std::uint32_t>(documents_.documents()));
    auto const segments = documents_.document(other);
    std::size_t const start = random.below(static_cast<std::uint32_t>(segments.size()));
    Stretch second{segments[start].begin, 0};
    for (std::size_t i = start; i < segments.size(); ++i) {
      second.count += segments[i].count;
      if (second.count >= target) break;
    }
    return second;
  }

  /// Removes tokens from the longer part, each at a random end, until both fit.
  void truncate(Stretch& first, Stretch& second, RandomStream& random) const {
    while (first.count + second.count > most_) {
      Stretch& longer = first.count > second.count ? first : second;
      if ((random.bits() & 1) != 0) ++longer.begin;
      --longer.count;
    }
  }

  DocumentWindow const& documents_;
  PairRule const& rule_;
  std::uint32_t most_;
  std::vector<SentencePair>& pairs_;
  std::function<void()> const& poll_;
};

}  // namespace

std::vector<SentencePair> draw_pairs(DocumentWindow const& documents, PairRule const& rule, std::uint64_t seed,
                                     std::int64_t window, std::int64_t pass, std::function<void()> const& poll) {
  require(rule.sequence_length >= 5, "a pair needs [CLS], two [SEP] and a token on each side");
  std::vector<SentencePair> pairs;
  PairDrawer const drawer(documents, rule, pairs, poll);
  // The random stream is selected by (window, document) and the pass. The document number has 32 bits; all ones is the
  // shuffle.
  auto const stream = [&](std::uint32_t document) {
    return RandomStream(seed, Purpose::pairs, static_cast<std::uint64_t>(window) << 32 | document,
                        static_cast<std::uint32_t>(pass));
  };
  for (std::int64_t document = 0; document < documents.documents(); ++document) {
    auto random = stream(static_cast<std::uint32_t>(document));
    drawer.draw(document, random);
  }
  auto random = stream(0xFFFFFFFFu);
  for (std::size_t i = pairs.size(); i > 1; --i)
    std::swap(pairs[i - 1], pairs[random.below(static_cast<std::uint32_t>(i))]);
  return pairs;
}

}  // namespace bellwether::input
