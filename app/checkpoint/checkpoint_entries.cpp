// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/checkpoint_entries.hpp"

#include "comm/collective/replica_mean.hpp"

#include <utility>

namespace bellwether::app {
namespace {

/// Returns an entry for consecutive values of a larger vector: from element `first` of `total`.
SavedEntry piece(std::string kind, std::string path, std::span<float const> values, std::int64_t first,
                 std::int64_t total, ValueRange range) {
  return {.kind = std::move(kind),
          .path = std::move(path),
          .shape = {std::ssize(values)},
          .value = values,
          .cut = true,
          .first = first,
          .total = total,
          .range = range};
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

void EntryWalk::note_mean(ArraySpec const& spec, std::span<float> slice, std::int64_t first, std::int64_t total) {
  index_.push_back("per_rank " + path(spec.name));
  auto const part = mean(slice, first, total);
  entry(piece("per_rank", path(spec.name), part, comm::part_of(total, rank_, ranks_).first, total, spec.range),
        Place::host);
}

void EntryWalk::array(ArraySpec const& spec, std::span<float> values) {
  bool const has_mean = static_cast<bool>(state_.replica_mean);
  auto const whole = [&](std::string kind, bool shared) {
    return SavedEntry{.kind = std::move(kind),
                      .path = path(spec.name),
                      .shape = {std::ssize(values)},
                      .value = values,
                      .shared = shared,
                      .range = spec.range};
  };
  switch (spec.placement) {
    case Placement::replicated:
      return note(whole("replicated", true), rank_ == 0);
    case Placement::partitioned:
      return note(piece("partitioned", path(spec.name), values, spec.first, spec.total, spec.range), true);
    case Placement::per_rank:
      if (spec.reshard == Reshard::mean && has_mean) return note_mean(spec, values, 0, std::ssize(values));
      return note(whole("per_rank", false), true);
    case Placement::held:
      if (has_mean) return note_mean(spec, values, spec.first, spec.total);
      return note(piece("per_rank", path(spec.name), values, spec.first, spec.total, spec.range), true);
  }
}

void EntryWalk::scalar(ScalarSpec<std::int64_t> const& spec, std::int64_t& value) {
  note({.kind = "scalar", .path = path(spec.name), .value = value, .shared = true}, rank_ == 0);
}

void EntryWalk::scalar(ScalarSpec<double> const& spec, double& value) {
  note({.kind = "scalar", .path = path(spec.name), .value = value, .shared = true}, rank_ == 0);
}

void EntryWalk::formed(std::string_view name, FormedValues const& values) {
  note({.kind = "replicated", .path = path(name), .shape = {values.count()}, .value = &values, .shared = true},
       rank_ == 0);
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
