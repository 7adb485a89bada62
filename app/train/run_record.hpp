// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/log/progress.hpp"
#include "app/statistics/statistics.hpp"
#include "input/deck/deck.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace bellwether::comm {
class World;
}
namespace bellwether::input {
class IoThread;
}

namespace bellwether::app {

class RunStart;
class Trainer;
struct StepOutcome;

/// The checkpoint that a job continues from. Without one, the texts are empty.
struct ResumedFrom {
  std::string path;
  std::string changes;              ///< settings that have changed since it was written
  std::int64_t recorded_every = 1;  ///< interval of recorded steps in the job that wrote it
};

/// What a run tells: rows of statistics and lines of the log. Only rank 0 writes; on other ranks every call does
/// nothing.
class RunRecord {
 public:
  /// The objects that open() reads.
  struct Start {
    Trainer const& trainer;
    comm::World const& world;
    RunStart& start;
    input::DeckSource const& source;
    ResumedFrom const& from;
    bool resume = false;  ///< the job may continue an earlier one
  };

  /// writes: on rank 0 only. deck, io: must outlive the record.
  RunRecord(input::Deck const& deck, ProgressOptions const& options, bool writes, input::IoThread& io);
  ~RunRecord();

  /// Opens the statistics, removes rows after the resumed step, and prints what starts. Call it on rank 0.
  /// \throws what Statistics throws.
  void open(Start const& start);

  /// Records a step. last: the last step of the schedule.
  void step(StepRow const& row, StepOutcome const& outcome, Trainer const& trainer, bool last);
  void evaluation(EvaluationRow const& row);
  void checkpoint(std::int64_t step, std::string const& path);             ///< the last one of the job
  void checkpoint_in_passing(std::int64_t step, std::string const& path);  ///< an earlier one
  void warning(std::string const& text);
  void sum_up(Trainer const& trainer);  ///< prints the summary of the whole run
  void finish(std::string const& summary);

  void flush();                  ///< as Statistics::flush()
  void wait();                   ///< as Statistics::wait()
  void require_written() const;  ///< as Statistics::require_written()

 private:
  bool open_statistics(Start const& start, Recorded found);
  void print_start(Start const& start);
  void print_resume(Start const& start, bool goes_on, std::string const& aside);

  input::Deck const& deck_;
  input::IoThread& io_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<Statistics> statistics_;
  std::optional<StepRow> last_row_;  // of this job
};

}  // namespace bellwether::app
