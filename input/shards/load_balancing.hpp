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

/// A row of loaded shard rows under its running sample number.
struct SampleRow {
  ShardRows const* rows = nullptr;
  std::int64_t row = 0;
  std::int64_t sample = 0;  ///< g

  std::int64_t length() const { return rows->lengths[static_cast<std::size_t>(row)]; }
  std::int64_t predictions() const { return rows->predictions[static_cast<std::size_t>(row)]; }
};

/// Which rank takes each sequence: ranks get floor or ceil(count / size) of them, and token counts that are nearly
/// even. Longest first, in rounds of `size` sequences; in a round the rank with the fewest tokens takes the longest
/// one.
std::vector<int> balance_by_length(std::span<std::int64_t const> lengths, int size);

/// One rank's passes of a global batch. Every rank computes the same deal from the same lengths.
struct LoadBalancer {
  int rank = 0, size = 1;
  std::int64_t micro = 32;
  std::uint64_t seed = 1;
  bool static_masks = true;
  MaskingRule masking;  ///< where masks are drawn

  /// `batch` in ascending order of g; so are the sequences of a pass.
  model::StepBatch share(std::span<SampleRow const> batch) const;
};

}  // namespace bellwether::input
