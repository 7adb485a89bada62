// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_entries.hpp"

#include "comm/collective/replica_mean.hpp"

#include <utility>

namespace bellwether::app {
namespace {

/// Returns an entry for consecutive values of a larger vector: from element `first` of `total`.
SavedEntry piece(std::string kind, std::string path, std::span<float const> values, std::int64_t first,
                 std::int64_t total) {
  return {.kind = std::move(kind),
          .path = std::move(path),
          .shape = {std::ssize(values)},
          .value = values,
          .cut = true,
          .first = first,
          .total = total};
}

}  // namespace

void walk(TrainingState const& state, CheckpointVisitor& visit) {
  visit.enter("parameters");
  for (auto const& tensor : state.layout.tensors())
    visit.parameter(
        tensor,
        state.parameters.subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(tensor.count)),
        state.parameters_per_rank);
  visit.enter("optimizer");
  if (state.optimizer) state.optimizer(visit);
  visit.enter("data");
  if (state.data) state.data(visit);
}

void EntryWalk::note(SavedEntry entry, bool written) {
  index_.push_back(entry.kind + " " + entry.path);
  if (written) this->entry(std::move(entry), Place::device);
}

void EntryWalk::parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank) {
  note({.kind = per_rank ? "per_rank" : "replicated",
        .path = path(tensor.name),
        .shape = tensor.shape,
        .value = values,
        .shared = !per_rank},
       per_rank || rank_ == 0);
}

void EntryWalk::note_replicated(std::string_view name, std::span<float> values, Allowed allowed) {
  note({.kind = "replicated",
        .path = path(name),
        .shape = {std::ssize(values)},
        .value = values,
        .shared = true,
        .allowed = allowed},
       rank_ == 0);
}

void EntryWalk::replicated(std::string_view name, std::span<float> values) {
  note_replicated(name, values, Allowed::finite);
}

void EntryWalk::formed(std::string_view name, FormedValues const& values) {
  note({.kind = "replicated", .path = path(name), .shape = {values.count()}, .value = &values, .shared = true},
       rank_ == 0);
}

void EntryWalk::not_negative(std::string_view name, std::span<float> values) {
  note_replicated(name, values, Allowed::not_negative);
}

void EntryWalk::measured(std::string_view name, std::span<float> values) {
  note_replicated(name, values, Allowed::any);
}

void EntryWalk::partitioned(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) {
  note(piece("partitioned", path(name), slice, first, total), true);
}

/// Stores the mean in slices, one per rank. For readers this is the same as held values whose slices do not overlap.
void EntryWalk::held(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) {
  if (!state_.replica_mean) return note(piece("per_rank", path(name), slice, first, total), true);
  index_.push_back("per_rank " + path(name));
  auto const part = mean(slice, first, total);
  entry(piece("per_rank", path(name), part, comm::part_of(total, rank_, ranks_).first, total), Place::host);
}

void EntryWalk::per_rank(std::string_view name, std::span<float> values, Reshard reshard) {
  if (reshard == Reshard::mean && state_.replica_mean) return held(name, values, 0, std::ssize(values));
  note({.kind = "per_rank", .path = path(name), .shape = {std::ssize(values)}, .value = values}, true);
}

void EntryWalk::scalar(std::string_view name, std::int64_t& value) {
  note({.kind = "scalar", .path = path(name), .value = value, .shared = true}, rank_ == 0);
}

void EntryWalk::scalar(std::string_view name, double& value) {
  note({.kind = "scalar", .path = path(name), .value = value, .shared = true}, rank_ == 0);
}

namespace {

class SizeWalk final : public EntryWalk {
 public:
  using EntryWalk::EntryWalk;
  std::int64_t bytes() const { return bytes_; }

 private:
  void entry(SavedEntry entry, Place) override {
    if (auto const* values = std::get_if<std::span<float const>>(&entry.value))
      bytes_ += static_cast<std::int64_t>(values->size_bytes());
    if (auto const* formed = std::get_if<FormedValues const*>(&entry.value))
      bytes_ += static_cast<std::int64_t>(sizeof(float)) * (*formed)->count();
  }
  std::vector<float> mean(std::span<float const>, std::int64_t, std::int64_t total) override {
    bytes_ += static_cast<std::int64_t>(sizeof(float)) * comm::part_of(total, rank(), ranks()).size();
    return {};
  }
  std::int64_t bytes_ = 0;
};

}  // namespace

std::int64_t checkpoint_bytes(TrainingState const& state, int rank, int ranks) {
  SizeWalk size(state, rank, ranks);
  walk(state, size);
  return size.bytes();
}

}  // namespace bellwether::app
