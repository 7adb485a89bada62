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

/// What is written beside the entries.
struct CheckpointHead {
  std::int64_t step = 0;
  int rank = 0, ranks = 1;
  std::string deck;
  std::uint64_t layout_fingerprint = 0;  ///< written as a text: HDF5's readers like signed integers
  std::vector<std::int64_t> active;      ///< (tensors) active elements of each
};

/// Rows of an entry that one task writes: at most 16 MiB of them, or one.
std::int64_t rows_a_task(SavedEntry const& entry);
/// Elements of one row.
std::int64_t row_width(SavedEntry const& entry);

/// One HDF5 file of a checkpoint while it comes to be: what all ranks have alike, or what one has for itself. Every
/// data set has the checksum of its values as they were in memory. Every call is on the I/O thread and short. \throws
/// RuntimeError naming the file and the system's reason.
class CheckpointFileWriter {
 public:
  /// Nothing is made yet.
  CheckpointFileWriter(std::string const& folder, bool shared, CheckpointHead const& head);
  void open();
  void scalar(SavedEntry const& entry);
  /// Rows [row, row + values.size() / row_width) of an entry; the first ones make its data set, the last its
  /// attributes. \throws UnsoundValues where one is not allowed.
  void rows(SavedEntry const& entry, std::int64_t row, std::span<float const> values);
  /// Index: of all entries, for a file of what is shared. Synchronises the file.
  void close(std::vector<std::string> const& index);
  /// Reads on in the closed file for its checksum. False: that is known.
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
  Checksum values_;  // of the entry whose rows are written
  std::optional<FileChecksum> sum_;
};

}  // namespace bellwether::app
