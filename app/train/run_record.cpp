// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/run_record.hpp"

#include "app/format/readable_numbers.hpp"
#include "app/train/core_warning.hpp"
#include "app/train/freeze_jump.hpp"
#include "app/train/run_directory.hpp"
#include "app/train/run_start.hpp"
#include "app/train/trainer.hpp"
#include "comm/transport/process_grid.hpp"
#include "comm/transport/world.hpp"
#include "input/threads/io_thread.hpp"

#include <cmath>
#include <cstdio>

namespace bellwether::app {

RunRecord::RunRecord(input::Deck const& deck, ProgressOptions const& options, bool writes, input::IoThread& io)
    : deck_(deck), io_(io) {
  if (writes) progress_ = std::make_unique<Progress>(options, stdout);
}
RunRecord::~RunRecord() = default;

void RunRecord::open(Start const& start) {
  using Priority = input::IoThread::Priority;
  auto found = io_.run(Priority::statistics, [&] { return recorded_statistics(deck_.run.directory); });
  std::string aside;
  if (start.resume && start.from.path.empty() && found == Recorded::rows) {
    aside = io_.run(Priority::statistics, [&] { return move_unfinished_record(deck_.run.directory); });
    found = Recorded::nothing;
  }
  bool const goes_on = open_statistics(start, found);
  print_start(start);
  print_resume(start, goes_on, aside);
}

/// Returns true if the statistics continue those of an earlier job.
bool RunRecord::open_statistics(Start const& start, Recorded found) {
  bool const goes_on = found != Recorded::nothing;
  auto const& trainer = start.trainer;
  StatisticsOptions record;
  record.directory = deck_.run.directory;
  record.run = trainer.description();
  record.flush_every = deck_.statistics.flush;
  record.failure_limit = deck_.checkpoint.failure_limit;
  record.may_write = [&of = start.start] { of.require_kept(); };
  record.warn = [this, &trainer](std::string const& fault) {
    progress_->warning("step " + std::to_string(trainer.step()) + ": statistics not written: " + fault +
                       "; training goes on, and the rows stay in memory for the next write");
  };
  if (goes_on) record.resume = RecordPoint{trainer.step(), trainer.samples(), trainer.tokens(), trainer.wall_seconds()};
  for (auto const& tensor : trainer.layout().tensors()) record.layers.push_back(tensor.name);
  record.quantities = trainer.layer_quantities();
  record.traffic = trainer.traffic();
  statistics_ = std::make_unique<Statistics>(std::move(record), io_);
  return goes_on;
}

void RunRecord::print_start(Start const& start) {
  auto const& trainer = start.trainer;
  auto const& world = start.world;
  progress_->compare_with(trainer.description());
  progress_->note(counted(trainer.layout().count(), "parameter") + ", " + counted(world.size(), "rank") + ", " +
                  counted(trainer.training_rows(), "training sample") + " of up to " +
                  counted(trainer.sequence_length(), "token") +
                  (trainer.static_masks() ? " with static masks, " : " with masks drawn while training, ") +
                  counted(deck_.schedule.steps, "step"));
  for (auto const& device : world.devices()) progress_->note(device);
  if (!world.devices().empty()) progress_->note("transport " + trainer.grid().transport());
  for (auto const& text : input::override_warnings(start.source)) warning(text);
  for (auto const& text : trainer.warnings()) warning(text);
  if (auto const text = start.start.warning(); !text.empty()) warning(text);
  if (auto const text = core_warning(world); !text.empty()) warning(text);
}

/// aside: where an earlier record without a checkpoint is now; empty if there was none.
void RunRecord::print_resume(Start const& start, bool goes_on, std::string const& aside) {
  auto const& from = start.from;
  auto const step = start.trainer.step();
  if (!from.path.empty()) progress_->note("resumed from " + from.path);
  if (!from.path.empty() && !goes_on)
    warning("no statistics of earlier steps: the record begins after step " + std::to_string(step));
  auto const recorded_to = statistics_->last_step().value_or(0);
  if (goes_on && recorded_to < step / from.recorded_every * from.recorded_every)
    warning("the record lacks rows of steps " + std::to_string(recorded_to + 1) + " to " + std::to_string(step) +
            ": it was not written together with the checkpoint");
  if (!statistics_->doubt().empty())
    warning("the record in " + deck_.run.directory + " seems to be of another run: " + statistics_->doubt() +
            "; to begin a new record, move statistics.h5 and the folder statistics out");
  if (!from.changes.empty()) warning("settings differ from those of the checkpoint: " + from.changes);
  if (start.resume && from.path.empty())
    progress_->note("no checkpoint to resume from: starting at step 0" +
                    (aside.empty() ? "" : "; what was recorded before is in " + aside));
}

void RunRecord::step(StepRow const& row, StepOutcome const& outcome, Trainer const& trainer, bool last) {
  if (!statistics_) return;
  last_row_ = row;
  if (row.skipped != 0) warning("step " + std::to_string(row.step) + " skipped: " + outcome.skipped_because);
  statistics_->count(trainer.traffic());
  // Rows on which freeze: auto bases its decision are recorded in any case.
  bool const checked = std::isfinite(row.variance_change);
  if (row.skipped != 0 || checked || row.step % deck_.statistics.every == 0 || last) statistics_->append(row);
  if (outcome.layers) statistics_->append_layers(row.step, trainer.layer_values());
  for (auto const& notice : trainer.notices()) progress_->note("step " + std::to_string(row.step) + ": " + notice);
  progress_->step(row, outcome.flops);
}

void RunRecord::evaluation(EvaluationRow const& row) {
  if (!statistics_) return;
  statistics_->append_evaluation(row);
  progress_->evaluation(row);
}

void RunRecord::sum_up(Trainer const& trainer) {
  if (!progress_) return;
  if (last_row_)
    progress_->note(
        noise_text(last_row_->noise_scale, last_row_->critical_batch, last_row_->noise_trace, deck_.batch.global));
  for (auto const& text : traffic_lines(trainer.traffic())) progress_->note(text);
  auto const frozen_after = trainer.frozen_after();
  if (!frozen_after) return;
  auto const found =
      io_.run(input::IoThread::Priority::statistics, [&] { return freeze_jump(deck_.run.directory, *frozen_after); });
  if (!found.empty()) warning(found);
}

void RunRecord::checkpoint(std::int64_t step, std::string const& path) {
  if (progress_) progress_->checkpoint(step, path);
}
void RunRecord::checkpoint_in_passing(std::int64_t step, std::string const& path) {
  if (progress_) progress_->checkpoint_in_passing(step, path);
}
void RunRecord::warning(std::string const& text) {
  if (progress_) progress_->warning(text);
}
void RunRecord::finish(std::string const& summary) {
  if (progress_) progress_->finish(summary);
}

void RunRecord::flush() {
  if (statistics_) statistics_->flush();
}
void RunRecord::wait() {
  if (statistics_) statistics_->wait();
}
void RunRecord::require_written() const {
  if (statistics_) statistics_->require_written();
}

}  // namespace bellwether::app
