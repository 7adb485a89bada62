// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Folders and manifests of checkpoints. A valid manifest makes a checkpoint complete.
namespace bellwether::app {

struct CheckpointFile {
  std::string name;
  std::int64_t bytes = 0;
  std::string checksum;  ///< XXH3, 64 bits, hexadecimal
};

/// The last file written into a checkpoint: lines of text, the last of which is a checksum of the others.
struct Manifest {
  std::int64_t step = 0;
  int ranks = 0;
  std::vector<CheckpointFile> files;

  std::string text() const;
  /// \throws InputError with the fault, but without the file's name.
  static Manifest parse(std::string const& text);
};

/// The folder `checkpoints/` of a run.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string run_directory);
  std::string const& path() const { return directory_; }
  std::string complete_path(std::int64_t step) const;   ///< step_<n>
  std::string temporary_path(std::int64_t step) const;  ///< step_<n>.part

  /// Creates an empty temporary folder, and removes an old one that a killed job left. \throws RuntimeError.
  void prepare(std::int64_t step) const;
  /// Writes the manifest, synchronises and renames the folder; then the checkpoint is complete. \throws RuntimeError.
  void complete(Manifest const& manifest) const;
  /// Removes a checkpoint that could not be written. Returns why that fails, or an empty text.
  std::string discard(std::int64_t step) const;
  /// Repairs what killed jobs left behind. Renames a checkpoint that is complete but not yet renamed, restores one that
  /// was about to be replaced, and removes the rest. The caller must own the run directory. Returns messages for the
  /// user.
  /// \throws InputError, as steps() does.
  std::vector<std::string> recover() const;
  /// Removes the oldest complete checkpoints beyond the newest `keep`, and temporary folders of steps up to `newest`.
  /// Keeps damaged ones and does not count them: those in `damaged` or without a valid manifest. Returns what could not
  /// be removed, and why.
  /// \throws InputError, as steps() does.
  std::vector<std::string> prune(std::int64_t newest, std::int64_t keep, std::set<std::int64_t> const& damaged) const;

  /// Returns the steps that have a folder step_<n>, newest first. \throws InputError if `checkpoints/` exists but
  /// cannot be read.
  std::vector<std::int64_t> steps() const;
  /// Returns what is wrong with the file's size, or an empty text.
  std::string size_fault_in(std::int64_t step, CheckpointFile const& file) const;
  std::vector<std::string> unfinished() const;  ///< temporary folders; throws as steps() does
  bool has_manifest(std::int64_t step) const;   ///< true if read_manifest() accepts it
  /// \throws InputError with the file and its fault.
  Manifest read_manifest(std::int64_t step) const;
  /// Returns a message if another program has this file open for writing, otherwise an empty text.
  std::string lock_on(std::int64_t step, CheckpointFile const& file) const;
  /// Checks size and checksum of one file. Returns the fault, or an empty text.
  std::string fault_in(std::int64_t step, CheckpointFile const& file) const;

 private:
  std::string directory_;
};

/// Returns true if the file lies in a checkpoint's folder with a manifest.
bool is_of_checkpoint(std::string const& path);

/// Checks a file in a folder step_<n> against the manifest beside it. Returns the fault; empty without one, and for
/// other files. \throws InputError if the manifest cannot be read.
std::string recorded_fault(std::string const& path);

}  // namespace bellwether::app
