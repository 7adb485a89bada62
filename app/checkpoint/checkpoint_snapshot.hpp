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

/// This rank's share of the state, copied so that training can go on.
class Snapshot final : public EntryWalk {
 public:
  /// memory: at least checkpoint_bytes() of it.
  Snapshot(TrainingState const& state, int rank, int ranks, HostBuffer const& memory)
      : EntryWalk(state, rank, ranks), free_(memory.values()) {}

  std::vector<SavedEntry> const& entries() const { return entries_; }
  std::string const& fault() const { return fault_; }  ///< after the walk; empty: none

 private:
  void entry(SavedEntry entry, Place place) override;
  std::span<float> free_;
  std::vector<SavedEntry> entries_;
  std::string fault_;
};

/// This rank's files on their way from a snapshot to the disk.
struct SnapshotWrite {
  std::function<void()> start;  ///< once; does not wait
  /// Names, sizes and checksums, or RuntimeError.
  std::future<std::vector<CheckpointFile>> files;
};

/// Will write this rank's files into `folder`, at most 16 MiB a task, and synchronise them. What that needs, the
/// snapshot's memory too, lives until the last task has ended.
SnapshotWrite write_snapshot(input::IoThread& io, std::string const& folder, CheckpointHead head,
                             Snapshot const& snapshot, HostBuffer memory);

/// The same without a copy: walks the state and returns when its files are written. Collective as the walk is.
/// \throws RuntimeError, on this rank alone.
std::vector<CheckpointFile> write_directly(input::IoThread& io, std::string const& folder, CheckpointHead const& head,
                                           TrainingState const& state);

}  // namespace bellwether::app
