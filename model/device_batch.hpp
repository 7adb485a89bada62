// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/batch.hpp"
#include "model/bert.hpp"
#include "model/layers/dropout.hpp"
#include "model/layers/embedding.hpp"
#include "model/workspace.hpp"

namespace bellwether::model {

/// A pass's indices in the memory of the execution space, with what the kernels derive from them. Buffers hold the
/// planned capacity; load() allocates nothing.
class DeviceBatch {
 public:
  DeviceBatch(Capacity const& capacity, Workspace& workspace);

  /// \throws InternalError where the batch does not fit the capacity.
  void load(Exec const& exec, Batch const& batch);

  Index sequences = 0, tokens = 0, masked = 0, longest = 0;
  std::int32_t *ids, *segments, *positions;   ///< (T)
  std::int64_t* row_samples;                  ///< (T)
  std::int32_t *offsets, *first_rows;         ///< (B + 1), (B)
  std::int64_t* samples;                      ///< (B)
  std::int32_t *masked_rows, *masked_labels;  ///< (M)
  std::int32_t* next_labels;                  ///< (B)
  TokenIndex token_index{};
  RowOrigin origin() const { return {row_samples, positions}; }

 private:
  void index_tokens(Batch const& batch);

  Capacity capacity_;
  std::int32_t *entry_ids_, *entry_starts_, *order_;
  std::vector<std::int32_t> host_positions_, host_order_, host_ids_, host_starts_;
  std::vector<std::int64_t> host_samples_;
};

}  // namespace bellwether::model
