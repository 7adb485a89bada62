// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/checkpoint/checkpoint_entries.hpp"
#include "input/hdf5/hdf5_file.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace bellwether::app {

/// Reads a checkpoint into the state that it visits. Collective. If the same number of ranks wrote it, every rank gets
/// its own bits back. For another number, or other slices, partitioned vectors are resharded by global element.
/// Per-rank vectors then become the mean over the old holders of each element, zero, or a fault. Rank 0 reads
/// replicated state and broadcasts it. A fault does not end the visit, because other ranks would wait; finish() reports
/// it to all of them.
class CheckpointReader : public CheckpointVisitor {
 public:
  CheckpointReader(FoundCheckpoint const& found, ParameterLayout const& layout, comm::RankGroup& group,
                   input::IoThread& io);
  void parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank) override;
  void array(ArraySpec const& spec, std::span<float> values) override;
  /// data/step and optimizer/applied_steps count completed steps and must equal the manifest's step.
  void scalar(ScalarSpec<std::int64_t> const& spec, std::int64_t& value) override;
  void scalar(ScalarSpec<double> const& spec, double& value) override;
  bool has(std::string_view name) const override;
  void drop(std::string_view name) override;
  /// Adds a fault, unless it is a duplicate: every read may fail for the same locked file.
  void fault(std::string text) {
    if (std::ranges::find(faults_, text) == faults_.end()) faults_.push_back(std::move(text));
  }

  /// Call it after the visit. Two models may have equal tensors and still differ in which elements decay or are active.
  /// If `key_of_active`, a deck key, is not empty, more active elements than in the checkpoint's run are a fault of
  /// that key.
  void check_layout(std::string const& key_of_active);
  /// Call it last. \throws InputError, the same on every rank, with all faults and with state that was not read.
  void finish();

 private:
  /// Returns the path of an entry in this checkpoint, which may have the name of an earlier version.
  std::string stored_path(std::string_view name) const;
  /// Returns true if the checkpoint holds `path` of this kind.
  bool expect(char const* kind, std::string const& path);
  /// Runs `read` on the I/O thread. Stores an exception as a fault and returns false.
  bool attempt(std::function<void()> const& read);
  void read_shared(std::string const& path, std::vector<std::int64_t> const& shape, std::span<float> values,
                   ValueRange range);
  /// first: index of the first value in the whole data set. \throws InputError naming the value outside `range`.
  void require_sound(std::string const& file, std::string const& path, std::span<float const> values,
                     std::int64_t first, ValueRange range) const;
  void read_own_or_reshard(std::string const& path, std::vector<std::int64_t> const& shape, std::span<float> values,
                           Reshard reshard, ValueRange range);
  void read_partitioned(ArraySpec const& spec, std::span<float> slice);
  /// Reads rows [first, first + shape[0]) of an array that has `total` rows.
  void read_own_or_mean(std::string const& path, std::vector<std::int64_t> const& shape, std::span<float> values,
                        std::int64_t first, std::int64_t total, ValueRange range);
  /// Returns true if every rank finds the rows it needs in the file with its rank number.
  bool same_cut(std::string const& path, std::vector<std::int64_t> const& shape, std::int64_t first,
                std::int64_t total);
  /// Computes the whole array on every rank.
  void read_mean(std::string const& path, std::vector<std::int64_t> const& shape, std::span<float> host,
                 ValueRange range);
  /// check: throws if the value is not allowed. If a value cannot be read or is not allowed, `value` stays unchanged.
  template <class T>
  void read_scalar(std::string const& path, T& value, std::function<void(T)> const& check);
  std::string shared_file() const;
  /// Opens the file of a rank. \throws InputError if the manifest does not name it, or if it records another step or
  /// rank.
  input::Hdf5File open(int rank) const;

  std::string folder_;
  std::int64_t step_;
  int ranks_;
  std::vector<std::string> files_;  // named by the manifest
  ParameterLayout const& layout_;
  comm::RankGroup& group_;
  input::IoThread& io_;
  std::set<std::string> stored_;  // paths in /index
  std::set<std::string> unread_;  // lines of /index, "kind path"
  std::vector<std::string> faults_;
};

}  // namespace bellwether::app
