// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/checkpoint/checkpoint.hpp"
#include "app/checkpoint/state_validity.hpp"

#include <string>
#include <variant>
#include <vector>

/// What a checkpoint consists of, as the walk over the state meets it.
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

/// One data set of a checkpoint. `kind` and `path` are also a line of the data set /index, by which a reader knows that
/// it has met everything.
struct SavedEntry {
  std::string kind;  ///< replicated, partitioned, per_rank or scalar
  std::string path;
  std::vector<std::int64_t> shape = {};
  /// The last are formed while entry() has them.
  std::variant<std::span<float const>, std::int64_t, double, FormedValues const*> value = std::int64_t{0};
  bool shared = false;  ///< in rank 0's file of what all ranks have alike; else in the rank's own
  bool cut = false;     ///< elements [first, first + size) of `total`
  std::int64_t first = 0, total = 0;
  Allowed allowed = Allowed::finite;
};

/// Calls entry() for what one rank writes, in the order of the walk.
class EntryWalk : public CheckpointVisitor {
 public:
  EntryWalk(TrainingState const& state, int rank, int ranks) : state_(state), rank_(rank), ranks_(ranks) {}
  void parameter(TensorInfo const& tensor, std::span<float> values, bool per_rank) override;
  void replicated(std::string_view name, std::span<float> values) override;
  void formed(std::string_view name, FormedValues const& values) override;
  void not_negative(std::string_view name, std::span<float> values) override;
  void measured(std::string_view name, std::span<float> values) override;
  void partitioned(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) override;
  void per_rank(std::string_view name, std::span<float> values, Reshard reshard) override;
  void held(std::string_view name, std::span<float> slice, std::int64_t first, std::int64_t total) override;
  void scalar(std::string_view name, std::int64_t& value) override;
  void scalar(std::string_view name, double& value) override;

  /// "kind path" of each entry so far, the same on all ranks.
  std::vector<std::string> const& index() const { return index_; }

 protected:
  /// Where a value's floats are. They stay there until entry() returns, those on the device until their owner's walk
  /// goes on.
  enum class Place { device, host };
  virtual void entry(SavedEntry entry, Place place) = 0;
  /// This rank's part of the mean over those that hold an element. For one that only asks for sizes: without values.
  virtual std::vector<float> mean(std::span<float const> slice, std::int64_t first, std::int64_t total) {
    return state_.mean_over_holders(slice, first, total);
  }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  void note(SavedEntry entry, bool written);
  void note_replicated(std::string_view name, std::span<float> values, Allowed allowed);

  TrainingState const& state_;
  int rank_, ranks_;
  std::vector<std::string> index_;
};

/// Bytes of floats that this rank writes into a checkpoint of `state`.
std::int64_t checkpoint_bytes(TrainingState const& state, int rank, int ranks);

}  // namespace bellwether::app
