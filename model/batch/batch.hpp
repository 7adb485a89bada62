// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"

#include <cstdint>
#include <vector>

namespace bellwether::model {

/// One micro-batch of one rank in host memory: B sequences without padding, T tokens, M masked tokens. Sequence b owns
/// rows [sequence_offsets[b], sequence_offsets[b + 1]) of T. Its position ids count up from 0.
struct Batch {
  std::vector<std::int32_t> token_ids;         ///< (T)
  std::vector<std::int32_t> segment_ids;       ///< (T)
  std::vector<std::int32_t> sequence_offsets;  ///< (B + 1)
  std::vector<std::int32_t> masked_rows;       ///< (M) rows of T, ascending
  std::vector<std::int32_t> masked_labels;     ///< (M) original token ids
  std::vector<std::int32_t> next_labels;       ///< (B) 1: the second segment is a random one
  std::vector<std::int64_t> samples;           ///< (B) global sample numbers g, the counters of dropout

  std::int64_t sequences() const { return static_cast<std::int64_t>(next_labels.size()); }
  std::int64_t tokens() const { return static_cast<std::int64_t>(token_ids.size()); }
  std::int64_t masked() const { return static_cast<std::int64_t>(masked_rows.size()); }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(std::int32_t)) *
               (2 * tokens() + std::ssize(sequence_offsets) + 2 * masked() + sequences()) +
           static_cast<std::int64_t>(sizeof(std::int64_t)) * std::ssize(samples);
  }
};

/// The largest micro-batch that a model allocates memory for.
struct Capacity {
  Index sequences;  ///< B
  Index longest;    ///< S
  Index masked;     ///< largest number of masked positions in a sequence
};

/// One rank's part of the batch of an optimizer step. The counts of the whole global batch make the loss exact for any
/// division into ranks and micro-batches.
struct StepBatch {
  std::vector<Batch> micro_batches;
  std::int64_t first_sample = 0;  ///< sample number g of the global batch's first sequence
  std::int64_t global_sequences = 0;
  std::int64_t global_masked = 0;
  std::int64_t global_tokens = 0;
};

}  // namespace bellwether::model
