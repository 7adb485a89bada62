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

/// Statistics on disk: segment files and the one file that shows them as a whole. For the I/O thread.
namespace bellwether::app {

/// How many rows of each kind.
struct SegmentRows {
  std::int64_t steps = 0, evaluations = 0, layers = 0;
};

/// Rows of one segment, in memory.
struct StatisticsSegment {
  std::int64_t index = 0;
  std::vector<StepRow> steps;
  std::vector<EvaluationRow> evaluations;
  std::vector<std::int64_t> layer_steps;
  std::vector<std::vector<float>> layers;  ///< one a quantity, (layer_steps, layers) each
};

SegmentRows rows_in(StatisticsSegment const& segment);

/// What /layers holds: a matrix for each quantity, a column for each layer.
struct LayerTable {
  std::vector<std::string> quantities, layers;
};

/// Finds whether all segments are there whose rows this statistics.h5 shows, and hold that many rows: HDF5 shows zeros
/// for rows that are not there. Does nothing to other files. \throws InputError naming the first segment that is
/// missing or has fewer rows.
void require_segments(std::string const& main_file);

/// /traffic of a statistics.h5; nothing where it has none. \throws InputError where a column is missing.
std::optional<TrafficTotals> read_traffic(input::Hdf5File const& file);

/// The files of one run's statistics.
class StatisticsFiles {
 public:
  /// A segment has room for `capacity` rows.
  StatisticsFiles(std::string directory, RunDescription run, LayerTable table, SegmentRows capacity);
  std::string const& main_file() const { return main_; }
  std::string segment_file(std::int64_t index) const;  ///< statistics/segment_<index>.h5
  std::int64_t layers() const { return std::ssize(table_.layers); }

  /// Replaces a segment's file whole. \throws RuntimeError.
  void write(StatisticsSegment const& segment) const;
  /// Replaces statistics.h5 by one that shows these rows of segments 0, 1, ... \throws RuntimeError.
  void publish(std::vector<SegmentRows> const& segments, TrafficTotals const& traffic) const;
  /// \throws InputError where a file is damaged or its layers or quantities are others.
  StatisticsSegment read(std::int64_t index) const;
  /// \throws InputError where statistics.h5 is missing or shows other layers or quantities.
  void check_layers() const;
  void remove(std::int64_t first_index) const;  ///< segments from this one on
  void make_folder() const;                     ///< of the segments. \throws RuntimeError.
  /// How many segments there are. \throws InputError naming the first one that is missing between others.
  std::int64_t count_segments() const;

 private:
  std::string relative_segment(std::int64_t index) const;
  std::string directory_, main_;
  RunDescription run_;
  LayerTable table_;
  SegmentRows capacity_;
};

}  // namespace bellwether::app
