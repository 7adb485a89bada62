// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/random/random.hpp"
#include "model/batch/batch.hpp"
#include "model/model_config.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bellwether::tests {

/// Returns a batch of sequences of the given lengths with random tokens and segments. `masked` positions of each
/// sequence are to be predicted, never the first one.
inline model::Batch random_batch(model::ModelConfig const& config, std::vector<int> const& lengths, int masked,
                                 std::uint64_t seed) {
  model::Batch batch;
  batch.sequence_offsets.push_back(0);
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    RandomStream random(seed, Purpose::pairs, b);
    int const first = batch.sequence_offsets.back(), length = lengths[b];
    for (int i = 0; i < length; ++i) {
      batch.token_ids.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(config.vocabulary))));
      batch.segment_ids.push_back(i > length / 2);
    }
    std::vector<std::int32_t> rows;
    while (static_cast<int>(rows.size()) < std::min(masked, length - 1)) {
      auto const row = first + 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(length - 1)));
      if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    }
    std::sort(rows.begin(), rows.end());
    for (auto const row : rows) {
      batch.masked_rows.push_back(row);
      batch.masked_labels.push_back(
          static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(config.vocabulary))));
    }
    batch.next_labels.push_back(static_cast<std::int32_t>(random.below(2)));
    batch.samples.push_back(static_cast<std::int64_t>(1000 * seed + b));
    batch.sequence_offsets.push_back(first + length);
  }
  return batch;
}

}  // namespace bellwether::tests
