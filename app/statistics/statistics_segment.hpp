// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/statistics/statistics_rows.hpp"
#include "app/statistics/traffic.hpp"

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace bellwether::input {
class Hdf5File;
}

/// Statistics on disk: segment files, and the file that presents them as one. Call all functions on the I/O thread.
namespace bellwether::app {

/// Number of rows of each kind.
struct SegmentRows {
  std::int64_t steps = 0, evaluations = 0, layers = 0;
};

/// The rows of one segment, in memory.
struct StatisticsSegment {
  std::int64_t index = 0;
  std::vector<StepRow> steps;
  std::vector<EvaluationRow> evaluations;
  std::vector<std::int64_t> layer_steps;
  std::vector<std::vector<float>> layers;  ///< one matrix per quantity, (layer_steps, layers) each
  bool has_earlier_names = false;          ///< its file names a column as an earlier version did
};

SegmentRows rows_in(StatisticsSegment const& segment);

/// Rows and columns of /layers: a matrix per quantity, with a column per layer.
struct LayerTable {
  std::vector<std::string> quantities, layers;
};

/// Checks that every segment shown by this statistics.h5 exists and holds its rows, because HDF5 shows missing rows as
/// zeros. Ignores other files. \throws InputError if a file is damaged, or naming the first segment that is missing or
/// has too few rows.
void require_segments(std::string const& main_file);

/// Reads /traffic of a statistics.h5; nothing if it has none. \throws InputError if a column is missing.
std::optional<TrafficTotals> read_traffic(input::Hdf5File const& file);

/// The statistics files of one run.
class StatisticsFiles {
 public:
  /// capacity: maximum number of rows per segment.
  StatisticsFiles(std::string directory, RunDescription run, LayerTable table, SegmentRows capacity);
  std::string const& main_file() const { return main_; }
  std::string segment_file(std::int64_t index) const;  ///< statistics/segment_<index>.h5
  std::int64_t layers() const { return std::ssize(table_.layers); }

  /// Replaces a segment's file atomically. \throws RuntimeError.
  void write(StatisticsSegment const& segment) const;
  /// Replaces statistics.h5 by one that shows these rows of segments 0, 1, ... \throws RuntimeError.
  void publish(std::vector<SegmentRows> const& segments, TrafficTotals const& traffic) const;
  /// \throws InputError if a file is damaged or has other layers or quantities.
  StatisticsSegment read(std::int64_t index) const;
  /// \throws InputError if statistics.h5 is missing or has other layers or quantities.
  void check_layers() const;
  void remove(std::int64_t first_index) const;  ///< removes segments from this index on
  void make_folder() const;                     ///< creates the folder of the segments. \throws RuntimeError.
  /// Returns the number of segments. \throws InputError naming the first one that is missing between others.
  std::int64_t count_segments() const;

 private:
  std::string relative_segment(std::int64_t index) const;
  std::string directory_, main_;
  RunDescription run_;
  LayerTable table_;
  SegmentRows capacity_;
};

}  // namespace bellwether::app
