// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/prepare/set_builder.hpp"

#include <numeric>
#include <utility>

namespace bellwether::input {

SetBuilder::SetBuilder(ShardSetWriter writer, std::int64_t window_tokens, std::function<void()> poll)
    : writer_(std::move(writer)),
      window_(writer_.rule().pairs.sequence_length - 3),
      limit_(window_tokens),
      frequencies_(static_cast<std::size_t>(writer_.rule().format.vocabulary)),
      poll_(std::move(poll)) {}

void SetBuilder::start_document() {
  if (window_.tokens() >= limit_) flush();
  window_.start_document();
}

void SetBuilder::add(std::span<std::int32_t const> sentence) {
  // A document much longer than the window is split; its second part counts as another document.
  if (window_.tokens() >= 2 * limit_) flush();
  window_.add_segment(sentence);
  ++sentences_;
  for (auto const id : sentence) ++frequencies_[static_cast<std::size_t>(id)];
}

void SetBuilder::finish() {
  flush();
  writer_.close();
}

CorpusFacts SetBuilder::counted(CorpusFacts facts) const {
  facts.documents = documents_;
  facts.sentences = sentences_;
  facts.tokens = std::accumulate(frequencies_.begin(), frequencies_.end(), std::int64_t{0});
  facts.rows = writer_.rows();
  facts.random_next = writer_.random_next();
  facts.lone_rows = lone_rows_;
  return facts;
}

void SetBuilder::flush() {
  auto const before = writer_.rows();
  documents_ += window_.documents();
  writer_.write(window_, poll_);
  if (window_.documents() == 1) lone_rows_ += writer_.rows() - before;
  window_.clear();
}

}  // namespace bellwether::input
