// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/prepare/pairs.hpp"
#include "input/prepare/shard_set_writer.hpp"
#include "input/shards/corpus_facts.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bellwether::input {

/// Collects the documents of one set, training or held-out, and writes their rows window by window.
class SetBuilder {
 public:
  /// \param window_tokens tokens of the documents among which pairs are drawn.
  /// \param poll called at least every few thousand tokens; an exception from it ends the work.
  SetBuilder(ShardSetWriter writer, std::int64_t window_tokens, std::function<void()> poll);

  void start_document();
  void add(std::span<std::int32_t const> sentence);
  void finish();  ///< writes the last window and closes the shards

  ShardSetWriter const& writer() const { return writer_; }
  std::vector<std::int64_t> const& frequencies() const {
    return frequencies_;
  }  ///< count of each token of the
     ///< vocabulary
  /// Returns `facts` with the counts of documents, sentences, tokens and rows filled in.
  CorpusFacts counted(CorpusFacts facts) const;

 private:
  void flush();

  ShardSetWriter writer_;
  DocumentWindow window_;
  std::int64_t limit_, documents_ = 0, sentences_ = 0, lone_rows_ = 0;
  std::vector<std::int64_t> frequencies_;
  std::function<void()> poll_;
};

}  // namespace bellwether::input
