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

/// The progress of a run. Samples identify rows of /steps: a skipped step has its own samples, but shares its number
/// with the next attempt.
struct RecordPoint {
  std::int64_t step = 0;
  std::int64_t samples = 0;              ///< seen, including those of skipped steps
  std::int64_t tokens = 0;               ///< seen, including those of skipped steps
  std::optional<double> wall_seconds{};  ///< of training; nothing: wall time and tokens are not compared
};

/// Where and how statistics are written.
struct StatisticsOptions {
  std::string directory;  ///< directory of the run; statistics.h5 and statistics/ are created there
  RunDescription run{};
  std::vector<std::string> layers;         ///< names of the tensors, in the order of the layout
  std::vector<std::string> quantities;     ///< measured per tensor: the matrices of /layers, e.g. "trust_ratio"
  std::optional<RecordPoint> resume;       ///< rows after this point are removed; nothing: a new run
  TrafficTotals traffic{};                 ///< sent before this job, if the run resumes
  std::int64_t flush_every = 20;           ///< steps between writes to disk, if every step has a row in /steps
  std::int64_t segment_rows = 4096;        ///< rows of /steps in one segment file
  std::int64_t segment_layer_rows = 1024;  ///< rows of /layers in one segment file
  std::int64_t failure_limit = 1;          ///< failed writes in a row that end the run; fewer only cause warnings
  std::function<void(std::string const&)> warn{};
  std::function<void()> may_write = [] {};  ///< called on the I/O thread before each file; throws to prevent it
};

/// The record of a run, kept by rank 0 only. The data sets /steps and /evaluation are compound tables. The matrices
/// /layers/<quantity> are (row, layer), beside /layers/step and /layers/name. The table /traffic has two rows. Rows are
/// collected in memory. flush() hands the open segment to the I/O thread, which atomically replaces its file. It then
/// replaces `statistics.h5`, whose virtual data sets present all segments as one. A reader always sees a complete
/// flush, even after the program was killed. append() does not allocate.
class Statistics {
 public:
  /// A resumed run needs only the segments and creates statistics.h5 again. A new run must find no statistics.
  /// \throws InputError if that fails, or if a resumed run finds none, gaps, or other layers or quantities.
  Statistics(StatisticsOptions options, input::IoThread& io);
  /// Discards unwritten rows: call flush() and wait() before.
  ~Statistics();

  std::optional<std::int64_t> last_step() const;  ///< of the newest row of /steps
  /// Returns why the record that a resumed run found seems to belong to another run; empty if it seems to match.
  std::string const& doubt() const;
  /// \throws RuntimeError with the file if StatisticsOptions::failure_limit earlier writes in a row failed.
  void append(StepRow const& row);
  /// values: one per StatisticsOptions::quantities, in their order, (layers) each; empty if this step did not measure
  /// it, which is stored as NaN.
  void append_layers(std::int64_t step, std::span<std::span<float const> const> values);
  void append_evaluation(EvaluationRow const& row);
  void count(TrafficTotals const& sent);  ///< sets the totals so far, which /traffic shows from the next flush on
  void flush();                           ///< starts a write and returns
  /// Call it on the I/O thread. \throws RuntimeError with the reason if the last write failed.
  void require_written() const;
  void wait();  ///< until all flushed rows are on disk. \throws RuntimeError as append() does.

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The statistics found in a run's directory. Call it on the I/O thread.
enum class Recorded { nothing, no_rows, rows };
Recorded recorded_statistics(std::string const& directory);

}  // namespace bellwether::app
