// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/device_progress.hpp"
#include "model/batch/batch.hpp"
#include "model/layers/dropout.hpp"
#include "model/layers/embedding.hpp"
#include "model/layout/workspace.hpp"

namespace bellwether::model {

/// A pass's indices, with what the kernels derive from them, one after the other in one piece of memory.
struct BatchArrays {
  std::int64_t* row_samples;                  ///< (T)
  std::int64_t* samples;                      ///< (B)
  std::int32_t *ids, *segments, *positions;   ///< (T)
  std::int32_t* offsets;                      ///< (B + 1)
  std::int32_t *masked_rows, *masked_labels;  ///< (M)
  std::int32_t* next_labels;                  ///< (B)
  std::int32_t *entry_ids, *entry_starts;     ///< distinct tokens: (T), (T + 1); see TokenIndex
  std::int32_t* order;                        ///< (T)

  /// Points into the bytes from `at` on; returns how many those are. Null: only counts them.
  std::int64_t place(Capacity const& capacity, std::byte* at);
};

/// They are in the memory of the execution space. Buffers hold the planned capacity; load() allocates nothing.
class DeviceBatch : public BatchArrays {
 public:
  DeviceBatch(Capacity const& capacity, Workspace& workspace);

  /// Waits only where the host is as many passes ahead as it has buffers.
  /// \throws InternalError where the batch does not fit the capacity.
  void load(Exec const& exec, Batch const& batch);

  Index sequences = 0, tokens = 0, masked = 0, longest = 0;
  TokenIndex token_index{};
  RowOrigin origin() const { return {row_samples, positions}; }
  std::int32_t const* first_rows() const { return offsets; }  ///< (B)

 private:
  void fill(BatchArrays const& host, Batch const& batch);
  Index index_tokens(BatchArrays const& host);

  /// Where the execution space cannot read the host's memory, what it copies from.
  static constexpr std::size_t buffers = on_devices ? 2 : 0;

  Capacity capacity_;
  std::int64_t bytes_;
  std::byte* memory_ = nullptr;
  Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace> staging_;
  DeviceProgress copied_;
};

}  // namespace bellwether::model
