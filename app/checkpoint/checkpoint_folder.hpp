// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Folders and manifests of checkpoints: what makes one complete.
namespace bellwether::app {

struct CheckpointFile {
  std::string name;
  std::int64_t bytes = 0;
  std::string checksum;  ///< XXH3, 64 bits, hexadecimal
};

/// The last file written into a checkpoint: lines of text, the last one a checksum of those before.
struct Manifest {
  std::int64_t step = 0;
  int ranks = 0;
  std::vector<CheckpointFile> files;

  std::string text() const;
  /// \throws InputError saying what is wrong, without the file's name.
  static Manifest parse(std::string const& text);
};

/// `checkpoints/` of a run.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string run_directory);
  std::string const& path() const { return directory_; }
  std::string complete_path(std::int64_t step) const;   ///< step_<n>
  std::string temporary_path(std::int64_t step) const;  ///< step_<n>.part

  /// An empty temporary folder; what was left there by a run that died is removed. \throws RuntimeError.
  void prepare(std::int64_t step) const;
  /// Manifest, synchronisation, rename: afterwards the checkpoint is complete. \throws RuntimeError.
  void complete(Manifest const& manifest) const;
  /// Of one that could not be written nothing stays. Empty, or why it does.
  std::string discard(std::int64_t step) const;
  /// What jobs left that died over a checkpoint: one that was complete but for its name gets it, one that was about to
  /// be replaced gets its own back, the rest goes. For who keeps the run directory. Returns what to tell.
  /// \throws InputError, as steps() does.
  std::vector<std::string> recover() const;
  /// Removes the oldest complete ones beyond the newest `keep`, and temporary folders of steps up to `newest`. Those
  /// that are damaged, by their manifest or as known, neither count nor go. Returns what could not be removed and why.
  /// \throws InputError, as steps() does.
  std::vector<std::string> prune(std::int64_t newest, std::int64_t keep, std::set<std::int64_t> const& damaged) const;

  /// With a folder step_<n>, newest first. \throws InputError where `checkpoints/` is there and cannot be read.
  std::vector<std::int64_t> steps() const;
  /// Empty, or what is wrong with the file's size.
  std::string size_fault_in(std::int64_t step, CheckpointFile const& file) const;
  std::vector<std::string> unfinished() const;  ///< temporary folders; throws as steps() does
  bool has_manifest(std::int64_t step) const;   ///< one that read_manifest() takes
  /// \throws InputError naming the file and what is wrong with it.
  Manifest read_manifest(std::int64_t step) const;
  /// That another program has one file open for writing, with what to do; empty where none has.
  std::string lock_on(std::int64_t step, CheckpointFile const& file) const;
  /// Size and checksum of one file; empty where it is right, else what is wrong.
  std::string fault_in(std::int64_t step, CheckpointFile const& file) const;

 private:
  std::string directory_;
};

/// Whether a file lies in a checkpoint's folder that has a manifest.
bool is_of_checkpoint(std::string const& path);

/// What is wrong with a file inside a folder step_<n>, by the manifest beside it; empty where nothing is, and of other
/// files. \throws InputError where that manifest cannot be read.
std::string recorded_fault(std::string const& path);

}  // namespace bellwether::app
