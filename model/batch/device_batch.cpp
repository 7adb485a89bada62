// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "model/batch/device_batch.hpp"

#include "core/system/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace bellwether::model {
namespace {

/// order <- rows sorted by id; rows with the same id in ascending order. Radix sort from the lowest digit, because the
/// device may wait while the host sorts. order, scratch: (count); ids: at least 0.
void sort_by_id(Index count, std::int32_t const* id, std::int32_t* order, std::int32_t* scratch) {
  constexpr int bits = 8, digits = 1 << bits;
  std::int32_t const largest = count > 0 ? *std::max_element(id, id + count) : 0;
  std::int32_t *from = order, *to = scratch;
  std::iota(from, from + count, 0);
  for (int shift = 0; shift < 32 && largest >> shift > 0; shift += bits) {
    auto const digit = [=](std::int32_t row) { return static_cast<std::size_t>(id[row] >> shift) % digits; };
    std::int32_t first[digits + 1] = {};
    for (Index row = 0; row < count; ++row) ++first[digit(static_cast<std::int32_t>(row)) + 1];
    std::partial_sum(first, first + digits, first);
    for (Index i = 0; i < count; ++i) to[first[digit(from[i])]++] = from[i];
    std::swap(from, to);
  }
  if (from != order) std::copy(from, from + count, order);
}

}  // namespace

std::int64_t BatchArrays::place(Capacity const& capacity, std::byte* at) {
  Index const B = capacity.sequences, T = B * capacity.longest, M = B * capacity.masked;
  std::int64_t bytes = 0;
  auto const take = [&]<class Element>(Element*& array, Index count) {
    if (at != nullptr) array = reinterpret_cast<Element*>(at + bytes);
    bytes += count * static_cast<Index>(sizeof(Element));
  };
  // Arrays with elements of 8 bytes come first, so that all arrays are aligned.
  take(row_samples, T);
  take(samples, B);
  for (auto** rows : {&ids, &segments, &positions, &entry_ids, &order}) take(*rows, T);
  take(entry_starts, T + 1);
  take(offsets, B + 1);
  take(next_labels, B);
  for (auto** rows : {&masked_rows, &masked_labels}) take(*rows, M);
  return bytes;
}

DeviceBatch::DeviceBatch(Capacity const& capacity, Workspace& workspace)
    : capacity_(capacity),
      bytes_(place(capacity, nullptr)),
      staging_("bellwether::model::batch_staging", buffers * static_cast<std::size_t>(bytes_)) {
  workspace.want(memory_, bytes_);
}

/// Groups the tokens by id. Within an id they are in row order, the order of the gradient's sum. Returns the number of
/// distinct ids.
Index DeviceBatch::index_tokens(BatchArrays const& host) {
  std::int32_t const* const id = host.ids;
  sort_by_id(tokens, id, host.order, host.entry_starts);
  Index entries = 0;
  for (Index i = 0; i < tokens; ++i) {
    auto const own = id[host.order[i]];
    if (entries > 0 && host.entry_ids[entries - 1] == own) continue;
    host.entry_ids[entries] = own;
    host.entry_starts[entries++] = static_cast<std::int32_t>(i);
  }
  host.entry_starts[entries] = static_cast<std::int32_t>(tokens);
  return entries;
}

void DeviceBatch::fill(BatchArrays const& host, Batch const& batch) {
  std::ranges::copy(batch.token_ids, host.ids);
  std::ranges::copy(batch.segment_ids, host.segments);
  std::ranges::copy(batch.sequence_offsets, host.offsets);
  std::ranges::copy(batch.samples, host.samples);
  std::ranges::copy(batch.next_labels, host.next_labels);
  std::ranges::copy(batch.masked_rows, host.masked_rows);
  std::ranges::copy(batch.masked_labels, host.masked_labels);
  for (Index b = 0; b < sequences; ++b) {
    Index const first = host.offsets[b], end = host.offsets[b + 1];
    std::iota(host.positions + first, host.positions + end, 0);
    std::fill(host.row_samples + first, host.row_samples + end, batch.samples[b]);
  }
}

void DeviceBatch::load(Exec const& exec, Batch const& batch) {
  sequences = batch.sequences();
  tokens = batch.tokens();
  masked = batch.masked();
  require(sequences <= capacity_.sequences && tokens <= capacity_.sequences * capacity_.longest &&
              masked <= capacity_.sequences * capacity_.masked,
          "micro-batch is larger than the planned capacity");
  longest = 0;
  for (Index b = 0; b < sequences; ++b)
    longest = std::max<Index>(longest, batch.sequence_offsets[b + 1] - batch.sequence_offsets[b]);
  require(longest <= capacity_.longest, "sequence is longer than the planned length");

  place(capacity_, memory_);
  BatchArrays host = *this;
  std::int64_t const turn = copied_.marked();
  std::byte* const from = staging_.data() + (on_devices ? turn % static_cast<std::int64_t>(buffers) * bytes_ : 0);
  if constexpr (on_devices) {
    copied_.wait(exec, turn + 1 - static_cast<std::int64_t>(buffers));
    host.place(capacity_, from);
  }
  fill(host, batch);
  token_index = {index_tokens(host), entry_ids, entry_starts, order};
  if constexpr (on_devices) {
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    auto const count = static_cast<std::size_t>(bytes_);
    Kokkos::deep_copy(exec, Kokkos::View<std::byte*, Mem, Unmanaged>(memory_, count),
                      Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace, Unmanaged>(from, count));
    copied_.mark(exec);
  }
}

}  // namespace bellwether::model
