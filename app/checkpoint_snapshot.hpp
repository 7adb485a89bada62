// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/checkpoint.hpp"
#include "app/checkpoint_folder.hpp"

#include <future>
#include <memory>
#include <string>
#include <variant>
#include <vector>

/// The writing side of a checkpoint: a copy of the state in host memory, and the tasks that put it into files.
namespace bellwether::app {

/// A visitor that also knows in which group it is and what parameters look like.
class CheckpointVisitor : public StateVisitor {
 public:
  virtual void parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank) = 0;
  void enter(std::string group) { group_ = std::move(group); }

 protected:
  std::string path(std::string_view name) const { return group_ + "/" + std::string(name); }

 private:
  std::string group_;
};

/// Parameters, optimizer, data: in this order on every rank.
void walk(TrainingState const& state, CheckpointVisitor& visit);

/// One entry of a checkpoint. `kind` and `path` are also a line of the data set /index, by which a reader knows that it
/// has met everything.
struct SavedEntry {
  std::string kind;  ///< replicated, partitioned, per_rank or scalar
  std::string path;
  std::vector<std::int64_t> shape;
  std::variant<std::vector<float>, std::int64_t, double> value;
  bool cut = false;  ///< elements [first, first + size) of `total`
  std::int64_t first = 0, total = 0;
};

/// This rank's share of the state, in host memory.
class Snapshot : public CheckpointVisitor {
 public:
  explicit Snapshot(int rank) : rank_(rank) {}
  void parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank) override;
  void replicated(std::string_view name, std::span<float> values) override;
  void partitioned(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) override;
  void per_rank(std::string_view name, std::span<float> values, Recut recut) override;
  void held(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) override;
  void scalar(std::string_view name, std::int64_t& value) override;
  void scalar(std::string_view name, double& value) override;

  std::vector<std::string> const& index() const { return index_; }   ///< "kind path", the same on all ranks
  std::vector<SavedEntry> const& shared() const { return shared_; }  ///< rank 0 alone
  std::vector<SavedEntry> const& own() const { return own_; }

 private:
  SavedEntry& keep(std::vector<SavedEntry>& where, char const* kind, std::string path, std::vector<std::int64_t> shape,
                   std::span<float const> values);
  int rank_;
  std::vector<std::string> index_;
  std::vector<SavedEntry> shared_, own_;
};

/// Bytes of host memory that a rank's Snapshot takes, without taking it.
std::int64_t snapshot_bytes(TrainingState const& state, int rank);

/// What is written beside the entries.
struct SnapshotHead {
  std::int64_t step = 0;
  int rank = 0, ranks = 1;
  std::string deck;
  std::uint64_t layout_fingerprint = 0;
  std::vector<std::int64_t> live;  ///< (tensors) live elements of each
};

/// How the fingerprint of a layout is written: 16 hexadecimal digits, because HDF5's readers like signed integers.
std::string fingerprint_text(std::uint64_t fingerprint);

/// Writes this rank's files into `folder`, at most 16 MiB a task, and synchronises them. The future yields names, sizes
/// and checksums, or RuntimeError. What it needs lives until the last task has ended.
std::future<std::vector<CheckpointFile>> write_snapshot(input::IoThread& io, std::string folder, SnapshotHead head,
                                                        Snapshot snapshot);

}  // namespace bellwether::app
