// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/checkpoint/checkpoint.hpp"

#include <string>
#include <variant>
#include <vector>

/// The data sets of a checkpoint in the order in which the state is visited.
namespace bellwether::app {

/// A visitor that also knows the current group and visits parameters.
class CheckpointVisitor : public StateVisitor {
 public:
  virtual void parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank) = 0;
  void enter(std::string group) { group_ = std::move(group); }

 protected:
  std::string path(std::string_view name) const { return group_ + "/" + std::string(name); }

 private:
  std::string group_;
};

/// Visits parameters, optimizer and data, in this order on every rank.
void walk(TrainingState const& state, CheckpointVisitor& visit);

/// One data set of a checkpoint. "kind path" is also a line of the data set /index, from which a reader knows that it
/// has read everything.
struct SavedEntry {
  std::string kind;  ///< replicated, partitioned, per_rank or scalar
  std::string path;
  std::vector<std::int64_t> shape = {};
  /// FormedValues are computed during the call of entry().
  std::variant<std::span<float const>, std::int64_t, double, FormedValues const*> value = std::int64_t{0};
  bool shared = false;  ///< in rank 0's file of replicated state; else in the rank's own file
  bool cut = false;     ///< `value` holds elements [first, first + size) of `total`
  std::int64_t first = 0, total = 0;
  ValueRange range = ValueRange::finite;
};

/// Calls entry() for each data set that one rank writes, in the order of walk().
class EntryWalk : public CheckpointVisitor {
 public:
  EntryWalk(TrainingState const& state, int rank, int ranks) : state_(state), rank_(rank), ranks_(ranks) {}
  void parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank) override;
  void array(ArraySpec const& spec, std::span<float> values) override;
  void scalar(ScalarSpec<std::int64_t> const& spec, std::int64_t& value) override;
  void scalar(ScalarSpec<double> const& spec, double& value) override;
  void formed(std::string_view name, FormedValues const& values) override;

  /// Returns "kind path" of each entry so far. The same on all ranks.
  std::vector<std::string> const& index() const { return index_; }

 protected:
  /// Memory space of an entry's floats. Host floats are valid until entry() returns, device floats until their owner
  /// visits its next value.
  enum class Place { device, host };
  virtual void entry(SavedEntry entry, Place place) = 0;
  /// Returns this rank's part of the mean over the ranks that hold an element. Overridden by walks that only need
  /// sizes, which return no values.
  virtual std::vector<float> mean(std::span<float const> slice, std::int64_t first, std::int64_t total) {
    return state_.replica_mean(slice, first, total);
  }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  void note(SavedEntry entry, bool written);
  /// Stores the mean over the ranks that hold an element in slices, one per rank. For readers this is the same as held
  /// values whose slices do not overlap.
  void note_mean(ArraySpec const& spec, std::span<float> slice, std::int64_t first, std::int64_t total);

  TrainingState const& state_;
  int rank_, ranks_;
  std::vector<std::string> index_;
};

/// Returns the bytes of floats that this rank writes into a checkpoint of `state`.
std::int64_t checkpoint_bytes(TrainingState const& state, int rank, int ranks);

}  // namespace bellwether::app
