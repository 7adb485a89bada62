// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/checkpoint/checkpoint_entries.hpp"
#include "app/checkpoint/checkpoint_file.hpp"
#include "app/checkpoint/device_copy.hpp"

#include <functional>
#include <future>
#include <string>
#include <vector>

namespace bellwether::input {
class IoThread;
}

namespace bellwether::app {

/// A copy of this rank's part of the state, so that training can continue.
class Snapshot final : public EntryWalk {
 public:
  /// memory: at least checkpoint_bytes().
  Snapshot(TrainingState const& state, int rank, int ranks, HostBuffer const& memory)
      : EntryWalk(state, rank, ranks), free_(memory.values()) {}

  std::vector<SavedEntry> const& entries() const { return entries_; }
  std::string const& fault() const { return fault_; }  ///< valid after the walk; empty: none

 private:
  void entry(SavedEntry entry, Place place) override;
  std::span<float> free_;
  std::vector<SavedEntry> entries_;
  std::string fault_;
};

/// The pending write of a snapshot's files.
struct SnapshotWrite {
  std::function<void()> start;  ///< call once; does not block
  /// Names, sizes and checksums, or a RuntimeError.
  std::future<std::vector<CheckpointFile>> files;
};

/// Prepares tasks of at most 16 MiB that write and synchronise this rank's files in `folder`. The tasks share ownership
/// of the data they need, including the snapshot's memory.
SnapshotWrite write_snapshot(input::IoThread& io, std::string const& folder, CheckpointHead head,
                             Snapshot const& snapshot, HostBuffer memory);

/// Writes without a copy: visits the state and returns when the files are written. Collective, like the visit. \throws
/// RuntimeError on this rank only.
std::vector<CheckpointFile> write_directly(input::IoThread& io, std::string const& folder, CheckpointHead const& head,
                                           TrainingState const& state);

}  // namespace bellwether::app
