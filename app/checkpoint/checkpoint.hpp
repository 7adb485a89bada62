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

/// What a checkpoint holds: the same walk saves and loads.
struct TrainingState {
  ParameterLayout const& layout;
  std::span<float> parameters;       ///< (n), memory of the execution space
  bool parameters_per_rank = false;  ///< Replication::per_rank: every rank has its own; another P gets their mean
  std::function<void(StateVisitor&)> optimizer;       ///< group /optimizer
  std::function<void(StateVisitor&)> data = nullptr;  ///< group /data: position of the stream, running totals
  /// What moves on with every batch, those of skipped steps too: tells apart states of one step.
  std::function<std::int64_t()> position = [] { return std::int64_t{0}; };
  /// Set where what each rank has for itself is saved as its mean over the ranks that hold an element: given this
  /// rank's slice, which begins at `first` of `total` elements, returns its comm::part_of() the mean. Collective.
  std::function<std::vector<float>(std::span<float const> slice, std::int64_t first, std::int64_t total)>
      mean_over_holders = nullptr;
  /// Asked after the optimizer was read: the key that decides which elements are active, where those that were not
  /// until now cannot become so any more; empty or not set where they can.
  std::function<std::string()> key_of_active = nullptr;
};

/// A complete checkpoint whose checksums hold.
struct FoundCheckpoint {
  std::string path;  ///< of the folder
  std::int64_t step = 0;
  int ranks = 0;                     ///< that wrote it
  std::string deck;                  ///< resolved deck of the run that wrote it
  std::vector<std::string> files{};  ///< named by its manifest: no other file has a checksum that was verified
};

struct CheckpointOptions {
  std::int64_t keep = 2;     ///< newest complete ones kept, 0 keeps all
  bool asynchronous = true;  ///< false: save() returns when all is written, and the state is not copied
  double patience = 60;      ///< seconds between warnings while training stands still for one to be written
};

/// Checkpoints of a run, folders `checkpoints/step_<n>/` of its directory. save() copies the state to host memory and
/// returns; from the next poll() on each rank's I/O thread writes and synchronises its file under a temporary folder
/// name; when poll() learns that all ranks are done, rank 0 writes the manifest, renames the folder, and only then
/// removes older ones. All member functions are collective: every rank calls them in the same order.
class Checkpoints {
 public:
  /// On rank 0, warn: told about damaged ones, failed removals and writes that take long; may_complete: called on the
  /// I/O thread before one is completed, may throw why it cannot be.
  Checkpoints(
      std::string directory, CheckpointOptions const& options, comm::RankGroup& group, input::IoThread& io,
      std::function<void(std::string const&)> warn, std::function<void()> may_complete = [] {});
  /// Abandons a checkpoint under way, which stays incomplete: call wait() at the end.
  ~Checkpoints();

  /// Takes the memory that save() copies to, which it would else do when it is first called. It is kept.
  void reserve(TrainingState const& state);
  /// Waits for the one before. Saving a step at the same position twice in a row does nothing the second time.
  /// \throws CommonFailure, naming rank, file and cause, where the one before could not be written; UnsoundState where
  /// it would hold values that are not finite or variances below 0.
  void save(std::int64_t step, std::string const& deck, TrainingState const& state);
  /// Once a step. Free of cost while nothing is under way, one small sum over ranks otherwise.
  void poll();
  void wait();  ///< until the one under way is complete
  /// The newest complete one that was written or loaded; nothing: there is none yet.
  std::optional<std::int64_t> last_complete() const;
  /// The longest that one took from save() until it was known to be complete; nothing: none has been made.
  std::optional<double> longest_seconds() const;
  std::string path(std::int64_t step) const;  ///< of a complete checkpoint's folder
  /// Not collective: of the newest complete one that is on disk now; empty: there is none.
  std::string newest_path() const;

  /// The newest complete checkpoint; newer incomplete or damaged ones are named and passed over with a warning. What
  /// is incomplete goes, as the run directory is this job's: room for checkpoints may be short.
  /// Nothing: none was ever completed. \throws CommonError where there are some, and not one is whole.
  std::optional<FoundCheckpoint> find_latest();
  /// Same P: bit for bit. Another P: partitioned state is resharded by element, per-rank state follows its Reshard.
  /// Other elements may be active than in the run that wrote it, unless state.key_of_active has a key.
  /// \throws InputError naming what is missing, left over, of another shape or newly active; on every rank.
  void load(FoundCheckpoint const& found, TrainingState const& state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::app
