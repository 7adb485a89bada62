// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/statistics/statistics_rows.hpp"
#include "app/statistics/traffic.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bellwether::input {
class IoThread;
}

namespace bellwether::app {

/// How far a run had come. Rows of /steps are told apart by samples: a skipped step has its own samples, but shares its
/// number with the step that is tried next.
struct RecordPoint {
  std::int64_t step = 0;
  std::int64_t samples = 0;              ///< seen, those of skipped steps too
  std::int64_t tokens = 0;               ///< likewise
  std::optional<double> wall_seconds{};  ///< of training; nothing: time and tokens are not compared
};

/// Where and how statistics are written.
struct StatisticsOptions {
  std::string directory;  ///< the run's; statistics.h5 and statistics/ go there
  RunDescription run{};
  std::vector<std::string> layers;         ///< names of the tensors, in the order of the layout
  std::vector<std::string> quantities;     ///< measured of each tensor: the matrices of /layers, such as "trust_ratio"
  std::optional<RecordPoint> resume;       ///< rows beyond this point are cut; nothing: a new run
  TrafficTotals traffic{};                 ///< sent before; where the run resumes
  std::int64_t flush_every = 20;           ///< steps between writes to disk, with a row of /steps each
  std::int64_t segment_rows = 4096;        ///< rows of /steps in one segment file
  std::int64_t segment_layer_rows = 1024;  ///< rows of /layers in one segment file
  std::int64_t failure_limit = 1;          ///< writes in a row that may not end well; of fewer, warn is told
  std::function<void(std::string const&)> warn{};
};

/// The record of a run, kept by rank 0 alone: /steps and /evaluation as compound tables, /layers/<quantity> as (row,
/// layer) matrices with /layers/step and /layers/name, /traffic as a table of two rows. Rows collect in memory; flush()
/// hands the open segment to the I/O thread, which replaces its file whole by rename and then `statistics.h5`, whose
/// virtual data sets show all segments as one. A reader sees the state of the last flush, never half of one, also after
/// the program was killed. append() does not allocate.
class Statistics {
 public:
  /// Segments alone are enough to resume: what shows them is made again.
  /// \throws InputError where a new run finds statistics, or a resumed one finds none, gaps, other layers or other
  /// quantities.
  Statistics(StatisticsOptions options, input::IoThread& io);
  /// Leaves unwritten rows unwritten: call flush() and wait() at the end.
  ~Statistics();

  std::optional<std::int64_t> last_step() const;  ///< of the newest row of /steps
  /// Of a resumed run: why what it found recorded seems to be of another run; empty where nothing speaks for it.
  std::string const& doubt() const;
  /// \throws RuntimeError naming the file where so many earlier writes in a row failed.
  void append(StepRow const& row);
  /// One of `values` for each of StatisticsOptions::quantities, in their order: (layers), or empty for what this step
  /// did not measure, stored as NaN.
  void append_layers(std::int64_t step, std::span<std::span<float const> const> values);
  void append_evaluation(EvaluationRow const& row);
  void count(TrafficTotals const& sent);  ///< so far; /traffic shows it from the next flush on
  void flush();                           ///< returns at once
  /// On the I/O thread. \throws RuntimeError saying why the last write did not end well, where it did not.
  void require_written() const;
  void wait();  ///< until all that was flushed is on disk. \throws RuntimeError as append() does.

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What lies in a run's directory. For the I/O thread.
enum class Recorded { nothing, no_rows, rows };
Recorded recorded_statistics(std::string const& directory);

}  // namespace bellwether::app
