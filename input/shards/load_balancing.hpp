// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/shards/masking.hpp"
#include "input/shards/shards.hpp"
#include "model/batch/batch.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bellwether::input {

/// A row of loaded shard rows, with its running sample number.
struct SampleRow {
  ShardRows const* rows = nullptr;
  std::int64_t row = 0;
  std::int64_t sample = 0;  ///< g

  std::int64_t length() const { return rows->lengths[static_cast<std::size_t>(row)]; }
  std::int64_t predictions() const { return rows->predictions[static_cast<std::size_t>(row)]; }
};

/// Returns the rank of each sequence. Ranks get floor or ceil(count / size) sequences and nearly equal token counts.
/// Sequences are assigned longest first, in rounds of `size`; in a round the rank with the fewest tokens gets the
/// longest sequence.
std::vector<int> balance_by_length(std::span<std::int64_t const> lengths, int size);

/// Computes one rank's micro-batches of a global batch. All ranks compute the same distribution from the same lengths.
struct LoadBalancer {
  int rank = 0, size = 1;
  std::int64_t micro = 32;
  std::uint64_t seed = 1;
  bool static_masks = true;
  MaskingRule masking;  ///< used if masks are drawn

  /// Returns this rank's share. `batch` is in ascending order of g, and so are the sequences of a micro-batch.
  model::StepBatch share(std::span<SampleRow const> batch) const;
};

}  // namespace bellwether::input
