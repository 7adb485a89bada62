// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/device_batch.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <numeric>

namespace bellwether::model {
namespace {

template <class T>
void upload(Exec const& exec, std::vector<T> const& from, std::size_t count, T* to) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  if (count == 0) return;
  Kokkos::deep_copy(exec, Kokkos::View<T*, Mem, Unmanaged>(to, count),
                    Kokkos::View<T const*, Kokkos::HostSpace, Unmanaged>(from.data(), count));
}

}  // namespace

DeviceBatch::DeviceBatch(Capacity const& capacity, Workspace& workspace) : capacity_(capacity) {
  Index const B = capacity.sequences, T = B * capacity.longest, M = B * capacity.masked;
  for (auto** rows : {&ids, &segments, &positions, &order_, &entry_ids_}) workspace.want(*rows, T);
  workspace.want(entry_starts_, T + 1);
  workspace.want(row_samples, T);
  workspace.want(offsets, B + 1);
  workspace.want(first_rows, B);
  workspace.want(samples, B);
  workspace.want(next_labels, B);
  workspace.want(masked_rows, M);
  workspace.want(masked_labels, M);
  auto const reserved = static_cast<std::size_t>(T + 1);
  for (auto* host : {&host_positions_, &host_order_, &host_ids_, &host_starts_}) host->reserve(reserved);
  host_samples_.reserve(reserved);
}

void DeviceBatch::index_tokens(Batch const& batch) {
  host_order_.resize(batch.token_ids.size());
  std::iota(host_order_.begin(), host_order_.end(), 0);
  // Rows of one id in their order: the order of the gradient's sum. std::sort with the row as second key allocates
  // nothing.
  std::sort(host_order_.begin(), host_order_.end(), [&](std::int32_t a, std::int32_t b) {
    return std::pair(batch.token_ids[a], a) < std::pair(batch.token_ids[b], b);
  });
  host_ids_.clear();
  host_starts_.clear();
  for (std::size_t i = 0; i < host_order_.size(); ++i) {
    auto const id = batch.token_ids[host_order_[i]];
    if (!host_ids_.empty() && host_ids_.back() == id) continue;
    host_ids_.push_back(id);
    host_starts_.push_back(static_cast<std::int32_t>(i));
  }
  host_starts_.push_back(static_cast<std::int32_t>(host_order_.size()));
}

void DeviceBatch::load(Exec const& exec, Batch const& batch) {
  sequences = batch.sequences();
  tokens = batch.tokens();
  masked = batch.masked();
  require(sequences <= capacity_.sequences && tokens <= capacity_.sequences * capacity_.longest &&
              masked <= capacity_.sequences * capacity_.masked,
          "batch beyond the planned capacity");
  longest = 0;
  host_positions_.clear();
  host_samples_.clear();
  for (Index b = 0; b < sequences; ++b) {
    Index const length = batch.sequence_offsets[b + 1] - batch.sequence_offsets[b];
    longest = std::max(longest, length);
    for (Index position = 0; position < length; ++position) {
      host_positions_.push_back(static_cast<std::int32_t>(position));
      host_samples_.push_back(batch.samples[b]);
    }
  }
  require(longest <= capacity_.longest, "sequence beyond the planned length");
  index_tokens(batch);
  auto const T = static_cast<std::size_t>(tokens), B = static_cast<std::size_t>(sequences),
             M = static_cast<std::size_t>(masked);
  upload(exec, batch.token_ids, T, ids);
  upload(exec, batch.segment_ids, T, segments);
  upload(exec, host_positions_, T, positions);
  upload(exec, host_samples_, T, row_samples);
  upload(exec, batch.sequence_offsets, B + 1, offsets);
  upload(exec, batch.sequence_offsets, B, first_rows);
  upload(exec, batch.samples, B, samples);
  upload(exec, batch.next_labels, B, next_labels);
  upload(exec, batch.masked_rows, M, masked_rows);
  upload(exec, batch.masked_labels, M, masked_labels);
  upload(exec, host_order_, T, order_);
  upload(exec, host_ids_, host_ids_.size(), entry_ids_);
  upload(exec, host_starts_, host_starts_.size(), entry_starts_);
  exec.fence("bellwether::model::batch uploaded before its host buffers change");
  token_index = {static_cast<Index>(host_ids_.size()), entry_ids_, entry_starts_, order_};
}

}  // namespace bellwether::model
