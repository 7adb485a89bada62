// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/layout/parameter_layout.hpp"
#include "core/layout/state_visitor.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bellwether::comm {
class RankGroup;
}
namespace bellwether::input {
class IoThread;
}

namespace bellwether::app {

/// The contents of a checkpoint. The same visit saves and loads them.
struct TrainingState {
  ParameterLayout const& layout;
  std::span<float> parameters;  ///< (n), execution space memory
  bool parameters_per_rank =
      false;  ///< Replication::per_rank: each rank has its own parameters; another P gets their mean
  std::function<void(StateVisitor&)> optimizer;       ///< visits group /optimizer
  std::function<void(StateVisitor&)> data = nullptr;  ///< visits group /data: position of the stream, running totals
  /// Returns a position that changes with every batch, including those of skipped steps. It distinguishes states of the
  /// same step.
  std::function<std::int64_t()> position = [] { return std::int64_t{0}; };
  /// Set if the checkpoint stores the mean of per-rank values instead of the values. Returns this rank's
  /// comm::part_of() the mean over the ranks that hold an element. slice: this rank's values, from element `first` of
  /// `total`. Collective.
  std::function<std::vector<float>(std::span<float const> slice, std::int64_t first, std::int64_t total)> replica_mean =
      nullptr;
  /// Called after the optimizer was read. Returns the deck key that decides which elements are active, if masked
  /// elements can no longer become active. Empty or unset if they can.
  std::function<std::string()> key_of_active = nullptr;
};

/// A complete checkpoint whose checksums hold.
struct FoundCheckpoint {
  std::string path;  ///< path of the folder
  std::int64_t step = 0;
  int ranks = 0;                     ///< number of ranks that wrote it
  std::string deck;                  ///< resolved deck of the run that wrote it
  std::vector<std::string> files{};  ///< files named by its manifest; only their checksums were verified
};

struct CheckpointOptions {
  std::int64_t keep = 2;     ///< number of newest complete checkpoints kept; 0 keeps all
  bool asynchronous = true;  ///< false: save() returns when all files are written, and does not copy the state
  double patience = 60;      ///< seconds between warnings while training waits for a checkpoint
};

/// Functions that the checkpoints of a run call.
struct CheckpointHooks {
  /// Receives warnings on rank 0, about damaged checkpoints, failed removals and slow writes.
  std::function<void(std::string const&)> warn;
  /// Called on rank 0's I/O thread before a checkpoint is completed; throws to prevent that.
  std::function<void()> may_complete = [] {};
  /// Called on rank 0, on either thread, before folders change; throws to prevent that.
  std::function<void()> may_write = [] {};
};

/// The checkpoints of a run: folders `checkpoints/step_<n>/` in its directory. save() copies the state to host memory
/// and returns. From the next poll() on, each rank's I/O thread writes and synchronises its file in a temporary folder.
/// When poll() finds that all ranks are done, rank 0 writes the manifest, renames the folder, and then removes older
/// ones. All member functions are collective: every rank calls them in the same order.
class Checkpoints {
 public:
  Checkpoints(std::string directory, CheckpointOptions const& options, comm::RankGroup& group, input::IoThread& io,
              CheckpointHooks hooks);
  /// Abandons a checkpoint that is not complete: call wait() before.
  ~Checkpoints();

  /// Allocates the memory that save() copies to, and keeps it. Otherwise the first save() does so.
  void reserve(TrainingState const& state);
  /// Starts a checkpoint, after waiting for the previous one. Does nothing if that one has the same step and position.
  /// \throws CommonFailure with rank, file and cause if the previous one could not be written. UnsoundState if it would
  /// contain non-finite values or negative variances.
  void save(std::int64_t step, std::string const& deck, TrainingState const& state);
  /// Advances the checkpoint in progress; call it once per step. Costs nothing if none is in progress, otherwise one
  /// small sum over ranks.
  void poll();
  void wait();  ///< waits until the checkpoint in progress is complete
  /// Returns the step of the newest complete checkpoint that this object wrote or loaded; nothing if there is none.
  std::optional<std::int64_t> last_complete() const;
  /// Returns the longest time from save() until a checkpoint was known to be complete; nothing before the first one.
  std::optional<double> longest_seconds() const;
  std::string path(std::int64_t step) const;  ///< folder of a complete checkpoint
  /// Not collective. Returns the path of the newest complete checkpoint on disk; empty if there is none.
  std::string newest_path() const;

  /// Returns the newest complete checkpoint. Skips newer incomplete or damaged ones with a warning. Removes incomplete
  /// ones, because disk space may be scarce and this job owns the run directory.
  /// Returns nothing if no checkpoint was ever completed. \throws CommonError if there are checkpoints but all are
  /// damaged.
  std::optional<FoundCheckpoint> find_latest();
  /// Loads a checkpoint. With the same P the state is bitwise equal. With another P, partitioned state is resharded by
  /// element, and per-rank state follows its Reshard. Other elements may be active than before, unless
  /// state.key_of_active returns a key.
  /// \throws InputError on every rank, naming missing, unknown, misshapen or newly active state.
  void load(FoundCheckpoint const& found, TrainingState const& state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::app
