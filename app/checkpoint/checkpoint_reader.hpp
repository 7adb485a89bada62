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

/// Reads a checkpoint into the state that walks it; collective. At the number of ranks that wrote it, every rank gets
/// back its own bits. At another one, or where ranks hold other slices, partitioned vectors are resharded by global
/// element, and per-rank vectors become their mean over the old holders of each element, zero, or a fault. Rank 0 reads
/// what is replicated and sends it round. A fault does not end the walk, because the other ranks would wait: finish()
/// tells all of them.
class CheckpointReader : public CheckpointVisitor {
 public:
  CheckpointReader(FoundCheckpoint const& found, ParameterLayout const& layout, comm::RankGroup& group,
                   input::IoThread& io);
  void parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank) override;
  void replicated(std::string_view name, std::span<float> values) override;
  void not_negative(std::string_view name, std::span<float> values) override;
  void measured(std::string_view name, std::span<float> values) override;
  void partitioned(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) override;
  void per_rank(std::string_view name, std::span<float> values, Reshard reshard) override;
  void held(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) override;
  void scalar(std::string_view name, std::int64_t& value) override;
  void scalar(std::string_view name, double& value) override;
  /// data/step and optimizer/applied_steps, both of steps that were made, are that of the manifest.
  void count(std::string_view name, std::int64_t& value, std::int64_t least) override;
  void number(std::string_view name, double& value, double least) override;
  bool has(std::string_view name) const override;
  void drop(std::string_view name) override;
  /// A fault that is noted already, as where every read meets the same locked file, is not noted again.
  void fault(std::string text) {
    if (std::ranges::find(faults_, text) == faults_.end()) faults_.push_back(std::move(text));
  }

  /// After the walk: two models may have equal tensors and still differ in what decays or is active. More active
  /// elements than the checkpoint's run had are a fault of `key_of_active`, a key of the deck, where that is not
  /// empty.
  void check_layout(std::string const& key_of_active);
  /// At the end. \throws InputError, the same on every rank, with what went wrong or was left over.
  void finish();

 private:
  /// True where the checkpoint holds `path` of this kind.
  bool expect(char const* kind, std::string const& path);
  /// Runs `read` on the I/O thread and keeps what it throws as a fault. False: it threw.
  bool attempt(std::function<void()> const& read);
  void read_shared(std::string const& path, std::vector<std::int64_t> const& shape, std::span<float> values,
                   Allowed allowed);
  void read_replicated(std::string_view name, std::span<float> values, Allowed allowed);
  /// first: place of the first of these values in the data set's whole. \throws InputError naming what is not allowed.
  void require_sound(std::string const& file, std::string const& path, std::span<float const> values,
                     std::int64_t first, Allowed allowed = Allowed::finite) const;
  void read_own_or_reshard(std::string const& path, std::vector<std::int64_t> const& shape, std::span<float> values,
                           Reshard reshard);
  /// Rows [first, first + shape[0]) of an array that has `total` rows.
  void read_own_or_mean(std::string const& path, std::vector<std::int64_t> const& shape, std::span<float> values,
                        std::int64_t first, std::int64_t total);
  /// Whether every rank finds, in its own old file, the rows that it wants.
  bool same_cut(std::string const& path, std::vector<std::int64_t> const& shape, std::int64_t first,
                std::int64_t total);
  /// The whole array, on every rank.
  void read_mean(std::string const& path, std::vector<std::int64_t> const& shape, std::span<float> host);
  /// check: throws where what was read is not allowed. A value that is not read or not allowed stays what it was.
  template <class T>
  void read_scalar(
      std::string const& path, T& value, std::function<void(T)> const& check = [](T) {});
  std::string shared_file() const;
  /// A rank's own file. \throws InputError where the manifest does not name it, or where it says that it is of another
  /// step or rank.
  input::Hdf5File open(int rank) const;

  std::string folder_;
  std::int64_t step_;
  int ranks_;
  std::vector<std::string> files_;  // that the manifest names
  ParameterLayout const& layout_;
  comm::RankGroup& group_;
  input::IoThread& io_;
  std::set<std::string> unread_;  // lines of /index, "kind path"
  std::vector<std::string> faults_;
};

}  // namespace bellwether::app
