// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/checkpoint/checkpoint_entries.hpp"
#include "app/checkpoint/checkpoint_folder.hpp"
#include "app/checkpoint/checksum.hpp"
#include "input/hdf5/hdf5_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bellwether::app {

/// What a checkpoint file holds besides the entries.
struct CheckpointHead {
  std::int64_t step = 0;
  int rank = 0, ranks = 1;
  std::string deck;
  std::uint64_t layout_fingerprint = 0;  ///< written as text, because HDF5 readers expect signed integers
  std::vector<std::int64_t> active;      ///< (tensors) number of active elements of each tensor
};

/// Returns the number of rows that one I/O task writes: as many as fit into 16 MiB, at least one.
std::int64_t rows_a_task(SavedEntry const& entry);
/// Returns the number of elements per row.
std::int64_t row_width(SavedEntry const& entry);

/// Writes one HDF5 file of a checkpoint: replicated state or one rank's own state. Every data set carries the checksum
/// of its values in memory. Call all functions on the I/O thread; each call is short. \throws RuntimeError with the
/// file and the system's reason.
class CheckpointFileWriter {
 public:
  /// Does not create the file yet.
  CheckpointFileWriter(std::string const& folder, bool shared, CheckpointHead const& head);
  void open();
  void scalar(SavedEntry const& entry);
  /// Writes rows [row, row + values.size() / row_width) of an entry. The first rows create its data set, the last rows
  /// add its attributes. \throws UnsoundValues if a value is not allowed.
  void rows(SavedEntry const& entry, std::int64_t row, std::span<float const> values);
  /// Synchronises and closes the file. index: of all entries; written to the file of replicated state only.
  void close(std::vector<std::string> const& index);
  /// Reads the next part of the closed file for its checksum. Returns false when the checksum is known.
  bool read_back();
  CheckpointFile report() const { return {name_, sum_->bytes(), sum_->digest()}; }

 private:
  template <class T>
  void write_values(std::string const& path, std::vector<std::int64_t> const& shape, std::span<T const> values);
  void write_texts(std::string const& path, std::vector<std::string> const& texts);

  std::string name_, path_;
  bool shared_;
  CheckpointHead const& head_;
  std::optional<input::Hdf5File> file_;
  Checksum values_;  // of the entry being written
  std::optional<FileChecksum> sum_;
};

}  // namespace bellwether::app
