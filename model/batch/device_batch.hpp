// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/device_progress.hpp"
#include "model/batch/batch.hpp"
#include "model/layers/dropout.hpp"
#include "model/layers/embedding.hpp"
#include "model/layout/workspace.hpp"

namespace bellwether::model {

/// Indices of a micro-batch and arrays derived from them for the kernels, adjacent in one piece of memory.
struct BatchArrays {
  std::int64_t* row_samples;                  ///< (T)
  std::int64_t* samples;                      ///< (B)
  std::int32_t *ids, *segments, *positions;   ///< (T)
  std::int32_t* offsets;                      ///< (B + 1)
  std::int32_t *masked_rows, *masked_labels;  ///< (M)
  std::int32_t* next_labels;                  ///< (B)
  std::int32_t *entry_ids, *entry_starts;     ///< distinct tokens: (T), (T + 1); see TokenIndex
  std::int32_t* order;                        ///< (T)

  /// Points the arrays into the memory that begins at `at`, unless it is null. Returns the number of bytes they need.
  std::int64_t place(Capacity const& capacity, std::byte* at);
};

/// A micro-batch in the memory of the execution space. The arrays have the planned capacity; load() allocates nothing.
class DeviceBatch : public BatchArrays {
 public:
  DeviceBatch(Capacity const& capacity, Workspace& workspace);

  /// Copies a micro-batch into the arrays. Waits only if the host is `buffers` micro-batches ahead of the device.
  /// \throws InternalError if the batch exceeds the capacity.
  void load(Exec const& exec, Batch const& batch);

  Index sequences = 0, tokens = 0, masked = 0, longest = 0;
  TokenIndex token_index{};
  RowOrigin origin() const { return {row_samples, positions}; }
  std::int32_t const* first_rows() const { return offsets; }  ///< (B)

 private:
  void fill(BatchArrays const& host, Batch const& batch);
  Index index_tokens(BatchArrays const& host);

  /// Number of staging buffers to copy from. None are needed where the execution space reads the host's memory.
  static constexpr std::size_t buffers = on_devices ? 2 : 0;

  Capacity capacity_;
  std::int64_t bytes_;
  std::byte* memory_ = nullptr;
  Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace> staging_;
  DeviceProgress copied_;
};

}  // namespace bellwether::model
