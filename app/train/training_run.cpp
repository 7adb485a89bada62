// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/training_run.hpp"

#include "app/checkpoint/checkpoint.hpp"
#include "app/checkpoint/durable_file.hpp"
#include "app/checkpoint/state_validity.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/launch/interrupt.hpp"
#include "app/launch/stop_requests.hpp"
#include "app/machine/timing.hpp"
#include "app/statistics/statistics.hpp"
#include "app/train/core_warning.hpp"
#include "app/train/deck_broadcast.hpp"
#include "app/train/deck_changes.hpp"
#include "app/train/freeze_jump.hpp"
#include "app/train/replica_check.hpp"
#include "app/train/run_directory.hpp"
#include "app/train/run_start.hpp"
#include "app/train/trainer.hpp"
#include "comm/transport/process_grid.hpp"
#include "comm/transport/rank_group.hpp"
#include "comm/transport/world.hpp"
#include "core/system/error.hpp"
#include "core/system/run_clock.hpp"
#include "input/threads/io_thread.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace bellwether::app {
namespace fs = std::filesystem;

struct TrainingRun::Impl {
  Impl(input::Deck const& settings, input::DeckSource const& source, TrainingOptions const& wanted,
       Interrupt const& signals, comm::World& all)
      : deck(settings),
        resolved_deck(input::resolved_deck(settings, source)),
        options(wanted),
        stops(signals, options.started, deck.run.walltime,
              all.rank() == 0 ? (fs::path(deck.run.directory) / "stop").string() : std::string()),
        world(all) {
    world.set_timeout(deck.comm.deadline);
    start = std::make_unique<RunStart>(deck.run.directory, options.resume, world.group(), world.host());
    if (world.rank() == 0) stops.watch_directory([this] { return !start->loss().empty(); });
    try {
      build(source);
    } catch (InputError const&) {
      start->withdraw();
      throw;
    }
  }

  void build(input::DeckSource const& source) {
    double const gemm_speed = measured_gemm_speed(world.group(), deck.model.compute);
    if (world.rank() == 0)
      progress = std::make_unique<Progress>(ProgressOptions{.form = options.log,
                                                            .steps = deck.schedule.steps,
                                                            .print_every = deck.statistics.print_every,
                                                            .gemm_flops_per_second = gemm_speed},
                                            stdout);
    checkpoints = std::make_unique<Checkpoints>(
        deck.run.directory,
        CheckpointOptions{.keep = deck.checkpoint.keep, .asynchronous = deck.checkpoint.asynchronous}, world.group(),
        io,
        [this](std::string const& text) {
          if (progress) progress->warning(text);
        },
        [this] { statistics->require_written(); }, [this] { start->require_kept(); });
    auto const found = options.resume ? find() : std::nullopt;
    // From here on memory may run out or a disk may fail on every attempt, so the start is counted first.
    auto const first = found ? found->step : 0;
    if (first < deck.schedule.steps) start->enter(first);
    trainer = std::make_unique<Trainer>(deck, world, io);
    require_equal_start(world.group(), start_facts(trainer->layout().fingerprint()));
    if (found) restore(*found);
    trainer->read_first_samples();
    together(world.group(), [&] {
      if (world.rank() != 0) return;
      start->require_kept();
      open_record(source);
      // Nothing can reject the run any more. A rejected run must not overwrite the deck of the run it found.
      write_text_file((fs::path(deck.run.directory) / "deck.resolved.yaml").string(),
                      input::resolved_deck(deck, source, input::DeckPlace::run_directory));
    });
    auto const memory = trainer->memory_use();
    checkpoints->reserve(trainer->state());
    stops.expect_checkpoint(memory.parameters + memory.optimizer);
  }

  std::optional<FoundCheckpoint> find() {
    auto found = checkpoints->find_latest();
    if (found && found->step > deck.schedule.steps)
      throw CommonError("schedule.steps: " + std::to_string(deck.schedule.steps) + " is below the step of " +
                        found->path + "; allowed on resume: at least " + std::to_string(found->step));
    return found;
  }

  void restore(FoundCheckpoint const& found) {
    auto const changed = deck_changes(found.deck, resolved_deck);
    changes = changes_text(changed);
    recorded_every = deck.statistics.every;
    if (auto const every = std::ranges::find(changed, "statistics.every", &DeckChange::key); every != changed.end())
      recorded_every = std::max<std::int64_t>(1, std::strtoll(every->was.c_str(), nullptr, 10));
    auto faults = method_faults(changed, found.path);
    for (auto& fault : model_faults(changed, found.path)) faults.push_back(std::move(fault));
    if (!faults.empty()) throw CommonError(faults);
    std::vector<std::string> fixed_keys;
    try {
      checkpoints->load(found, trainer->state());
    } catch (CommonError const& error) {
      faults = error.faults();
    }
    if (trainer->frozen_after())
      fixed_keys = fixed_key_faults(changed, deck.optimizer.keys_fixed_at_freeze(), found.path, found.step);
    if (!fixed_keys.empty()) throw CommonError(fixed_keys);  // other faults may follow from these
    if (!faults.empty() && !changes.empty())
      faults.insert(faults.begin(), "settings differ from those of the checkpoint: " + changes);
    if (!faults.empty()) throw CommonError(faults);
    resumed = found.path;
  }

  Recorded recorded() {
    return io.run(input::IoThread::Priority::statistics, [&] { return recorded_statistics(deck.run.directory); });
  }

  /// Opens statistics on rank 0, removes rows after the restored step, and prints what starts.
  void open_record(input::DeckSource const& source) {
    auto found = recorded();
    std::string aside;
    if (options.resume && resumed.empty() && found == Recorded::rows) {
      aside = io.run(input::IoThread::Priority::statistics, [&] { return move_unfinished_record(deck.run.directory); });
      found = Recorded::nothing;
    }
    bool const goes_on = found != Recorded::nothing;
    StatisticsOptions record;
    record.directory = deck.run.directory;
    record.run = trainer->description();
    record.flush_every = deck.statistics.flush;
    record.failure_limit = deck.checkpoint.failure_limit;
    record.may_write = [this] { start->require_kept(); };
    record.warn = [this](std::string const& fault) {
      progress->warning("step " + std::to_string(trainer->step()) + ": statistics not written: " + fault +
                        "; training goes on, and the rows stay in memory for the next write");
    };
    if (goes_on)
      record.resume = RecordPoint{trainer->step(), trainer->samples(), trainer->tokens(), trainer->wall_seconds()};
    for (auto const& tensor : trainer->layout().tensors()) record.layers.push_back(tensor.name);
    record.quantities = trainer->layer_quantities();
    record.traffic = trainer->traffic();
    statistics = std::make_unique<Statistics>(std::move(record), io);
    progress->compare_with(trainer->description());
    progress->note(counted(trainer->layout().count(), "parameter") + ", " + counted(world.size(), "rank") + ", " +
                   counted(trainer->training_rows(), "training sample") + " of up to " +
                   counted(trainer->sequence_length(), "token") +
                   (trainer->static_masks() ? " with static masks, " : " with masks drawn while training, ") +
                   counted(deck.schedule.steps, "step"));
    for (auto const& device : world.devices()) progress->note(device);
    if (!world.devices().empty()) progress->note("transport " + trainer->grid().transport());
    for (auto const& warning : input::override_warnings(source)) progress->warning(warning);
    for (auto const& warning : trainer->warnings()) progress->warning(warning);
    if (auto const warning = start->warning(); !warning.empty()) progress->warning(warning);
    if (auto const warning = core_warning(world); !warning.empty()) progress->warning(warning);
    if (!resumed.empty()) progress->note("resumed from " + resumed);
    if (!resumed.empty() && !goes_on)
      progress->warning("no statistics of earlier steps: the record begins after step " +
                        std::to_string(trainer->step()));
    auto const recorded_to = statistics->last_step().value_or(0);
    if (goes_on && recorded_to < trainer->step() / recorded_every * recorded_every)
      progress->warning("the record lacks rows of steps " + std::to_string(recorded_to + 1) + " to " +
                        std::to_string(trainer->step()) + ": it was not written together with the checkpoint");
    if (!statistics->doubt().empty())
      progress->warning("the record in " + deck.run.directory + " seems to be of another run: " + statistics->doubt() +
                        "; to begin a new record, move statistics.h5 and the folder statistics out");
    if (!changes.empty()) progress->warning("settings differ from those of the checkpoint: " + changes);
    if (options.resume && resumed.empty())
      progress->note("no checkpoint to resume from: starting at step 0" +
                     (aside.empty() ? "" : "; what was recorded before is in " + aside));
  }

  bool due(std::int64_t every, std::int64_t more = 0) const {
    return every > 0 && (trainer->step() + more) % every == 0;
  }
  /// Returns true if another step follows the next step, and nothing looks at the state in between.
  bool goes_on() const {
    return trainer->step() + 1 < deck.schedule.steps && !due(deck.run.verify_every, 1) &&
           !due(deck.statistics.evaluate_every, 1) && !due(deck.checkpoint.every, 1);
  }
  bool last() const { return trainer->step() >= deck.schedule.steps; }

  void record(StepRow const& row, StepOutcome const& outcome) {
    if (!statistics) return;
    last_row = row;
    has_row = true;
    if (row.skipped != 0)
      progress->warning("step " + std::to_string(row.step) + " skipped: " + outcome.skipped_because);
    statistics->count(trainer->traffic());
    // Rows on which freeze: auto bases its decision are recorded in any case.
    bool const checked = std::isfinite(row.variance_change);
    if (row.skipped != 0 || checked || row.step % deck.statistics.every == 0 || last()) statistics->append(row);
    if (outcome.layers) statistics->append_layers(row.step, trainer->layer_values());
    for (auto const& notice : trainer->notices()) progress->note("step " + std::to_string(row.step) + ": " + notice);
    progress->step(row, outcome.flops);
  }

  void evaluate() {
    if (!trainer->evaluates()) return;
    auto const row = trainer->evaluate();
    if (!statistics) return;
    statistics->append_evaluation(row);
    progress->evaluation(row);
  }

  /// Runs `work`. Tolerates a checkpoint that could not be written, until too many in a row have failed.
  template <class Work>
  void tolerate(Work const& work) try {
    auto const before = checkpoints->last_complete();
    work();
    auto const newest = checkpoints->last_complete();
    if (newest == before) return;
    failed_checkpoints = 0;
    if (progress) progress->checkpoint_in_passing(newest.value(), checkpoints->path(newest.value()));
  } catch (UnsoundState const&) {
    throw;
  } catch (CommonFailure const& failure) {
    if (++failed_checkpoints >= deck.checkpoint.failure_limit) throw;
    if (progress)
      progress->warning("step " + std::to_string(trainer->step()) + ": " + failure.what() +
                        "; training goes on, and the newest complete checkpoint is kept");
  }

  void poll() {
    tolerate([&] { checkpoints->poll(); });
    note_first_checkpoint();
    if (auto const seconds = checkpoints->longest_seconds()) stops.took_checkpoint(*seconds);
  }

  /// Records the job's first checkpoint. It counts as progress even at the step where the job started, because the job
  /// may have skipped steps and consumed their samples.
  void note_first_checkpoint() {
    if (!progress || wrote_checkpoint || !checkpoints->longest_seconds()) return;
    wrote_checkpoint = true;
    try {
      start->got_to(checkpoints->last_complete().value());
    } catch (std::exception const& error) {
      progress->warning(error.what());
    }
  }

  /// Flushes statistics before the checkpoint: the rows up to its step must be on disk when it is completed. If they
  /// cannot be written, the checkpoint is not completed.
  void save() {
    if (statistics) statistics->flush();
    checkpoints->save(trainer->step(), resolved_deck, trainer->state());
  }

  void save_in_passing() {
    tolerate([&] { checkpoints->wait(); });
    tolerate([&] { save(); });
  }

  void close() {
    verify();
    tolerate([&] { checkpoints->wait(); });  // ignore a failure of an earlier checkpoint
    save();
    checkpoints->wait();
    if (statistics) statistics->wait();
    note_first_checkpoint();
    if (auto const step = checkpoints->last_complete(); progress && step)
      progress->checkpoint(*step, checkpoints->path(*step));
    if (progress) sum_up();
  }

  /// Compares replicas: a rank with silent memory or arithmetic errors would continue with its own parameters.
  void verify() {
    if (trainer->grid().replicas() == 1 || deck.run.verify_every == 0 || verified == trainer->step()) return;
    auto const found = differing_replicas(world.group(), trainer->state(), world.host());
    if (found.empty()) {
      verified = trainer->step();
      return;
    }
    auto const since =
        verified ? "they did after step " + std::to_string(*verified) +
                       ": remove checkpoints of later steps, then continue with --resume"
                 : "this job had not compared them before: continue with --resume and watch whether it happens again";
    throw CommonFailure("step " + std::to_string(trainer->step()) + ": ranks do not hold the same state any more: " +
                        found + "; " + since + "; no checkpoint of this step is written");
  }

  /// Throws if the state is invalid: with non-finite parameters or moments, all further steps would be skipped.
  void require_sound_state() {
    auto const found = unsound_state(world.group(), trainer->state());
    if (found.empty()) return;
    tolerate([&] { checkpoints->wait(); });
    throw UnsoundState("step " + std::to_string(trainer->step()) + ": the state, not the gradient, is at fault: " +
                       found + "; no checkpoint of it is written: continue with --resume from the newest one");
  }

  /// Removes the stop file when the run ends for any reason. Otherwise the next job would stop after one step.
  void remove_stop_file() const noexcept try {
    if (start->loss().empty()) stops.remove_file();
  } catch (std::exception const& error) {
    try {
      if (progress) progress->warning(error.what());
    } catch (std::exception const&) {  // the error that ends the run matters more
    }
  }

  /// Prints the summary of the whole run.
  void sum_up() {
    if (has_row)
      progress->note(
          noise_text(last_row.noise_scale, last_row.critical_batch, last_row.noise_trace, deck.batch.global));
    for (auto const& text : traffic_lines(trainer->traffic())) progress->note(text);
    auto const frozen_after = trainer->frozen_after();
    if (!frozen_after) return;
    auto const found =
        io.run(input::IoThread::Priority::statistics, [&] { return freeze_jump(deck.run.directory, *frozen_after); });
    if (!found.empty()) progress->warning(found);
  }

  input::Deck deck;
  std::string resolved_deck;
  TrainingOptions options;
  StopRequests stops;
  comm::World& world;
  std::unique_ptr<RunStart> start;  // released after everything declared below
  input::IoThread io;
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<Checkpoints> checkpoints;
  std::unique_ptr<Statistics> statistics;
  std::unique_ptr<Progress> progress;
  std::string resumed;              // path of the checkpoint that was loaded
  std::int64_t recorded_every = 1;  // interval of recorded steps in the job that wrote it
  std::string changes;              // changed settings since it was written
  StepRow last_row;                 // last row of this job
  bool has_row = false, wrote_checkpoint = false;
  std::int64_t failed_checkpoints = 0;   // in a row
  std::optional<std::int64_t> verified;  // last step after which all ranks agreed
};

TrainingRun::TrainingRun(input::Deck const& deck, input::DeckSource const& source, TrainingOptions const& options,
                         Interrupt const& interrupt, comm::World& world)
    : impl_(std::make_unique<Impl>(deck, source, options, interrupt, world)) {}
TrainingRun::~TrainingRun() = default;

int TrainingRun::finish() try {
  auto& run = *impl_;
  StopReason stopped = StopReason::none;
  bool diverged = false;
  std::string data_fault;
  StepRow row;
  {
    struct StopFileRemoval {
      Impl const& of;
      ~StopFileRemoval() { of.remove_stop_file(); }
    } const whatever_ends_it{run};
    while (!run.last() && stopped == StopReason::none && !diverged && data_fault.empty()) {
      auto const start = RunClock::now();
      auto const outcome = run.trainer->advance(run.stops.pending(), row, run.goes_on());
      stopped = outcome.stop;
      data_fault = outcome.data_fault;
      diverged = outcome.skipped_in_a_row >= run.deck.optimizer.skip_limit;
      if (row.skipped != 0 && !std::isfinite(row.gradient_norm)) run.require_sound_state();
      run.record(row, outcome);
      run.poll();
      if (outcome.skipped_in_a_row == 0) {
        if (!run.last() && run.due(run.deck.run.verify_every)) run.verify();
        if (run.last() || run.due(run.deck.statistics.evaluate_every)) run.evaluate();
        if (!run.last() && run.due(run.deck.checkpoint.every)) run.save_in_passing();
      }
      // A stop may have to wait for the micro-batches of one more step.
      run.stops.took_step((run.trainer->enqueues_ahead() ? 2 : 1) * seconds_since(start));
    }
    if (stopped == StopReason::directory) run.start->require_kept_together();
    run.close();
  }
  std::string const at = "step " + std::to_string(run.trainer->step());
  if (!data_fault.empty() && !run.last())
    throw CommonFailure(data_fault + "; a checkpoint of " + at +
                        " was written: correct the data, then continue with --resume");
  if (diverged)
    throw CommonFailure(at + ": " + counted(run.deck.optimizer.skip_limit, "step") +
                        " in a row skipped; a checkpoint was written before the run ends");
  bool const early = !run.last();
  if (run.progress)
    run.progress->finish(early ? "stopped at " + at + how_stopped(stopped) + "; continue with --resume"
                               : "finished at " + at + "; results are in " + run.deck.run.directory);
  return early ? exit_resubmit : 0;
} catch (comm::CollectiveTimeout const& stuck) {
  auto const last = impl_->checkpoints->newest_path();
  throw comm::CollectiveTimeout(stuck.what() + (last.empty() ? "; there is no complete checkpoint yet"
                                                             : "; the last complete checkpoint is " + last));
}

}  // namespace bellwether::app
