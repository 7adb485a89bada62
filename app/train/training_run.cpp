// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/training_run.hpp"

#include "app/checkpoint/durable_file.hpp"
#include "app/checkpoint/state_validity.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/launch/interrupt.hpp"
#include "app/launch/stop_requests.hpp"
#include "app/machine/timing.hpp"
#include "app/train/deck_broadcast.hpp"
#include "app/train/deck_changes.hpp"
#include "app/train/replica_check.hpp"
#include "app/train/run_checkpoints.hpp"
#include "app/train/run_record.hpp"
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
#include <cstdlib>
#include <filesystem>

namespace bellwether::app {
namespace fs = std::filesystem;

namespace {

/// What has ended the steps of a job before the last one of the schedule.
struct Ending {
  StopReason stopped = StopReason::none;
  bool diverged = false;        ///< too many skipped steps in a row
  std::string data_fault = "";  ///< the samples of the next step cannot be read

  bool came() const { return stopped != StopReason::none || diverged || !data_fault.empty(); }
};

}  // namespace

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
    record = std::make_unique<RunRecord>(deck,
                                         ProgressOptions{.form = options.log,
                                                         .steps = deck.schedule.steps,
                                                         .print_every = deck.statistics.print_every,
                                                         .gemm_flops_per_second = gemm_speed},
                                         world.rank() == 0, io);
    checkpoints = std::make_unique<RunCheckpoints>(RunCheckpoints::Parts{.deck = deck,
                                                                         .resolved_deck = resolved_deck,
                                                                         .group = world.group(),
                                                                         .io = io,
                                                                         .record = *record,
                                                                         .start = *start,
                                                                         .stops = stops});
    auto const found = options.resume ? checkpoints->find() : std::nullopt;
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
      record->open({*trainer, world, *start, source, resumed, options.resume});
      // Nothing can reject the run any more. A rejected run must not overwrite the deck of the run it found.
      write_text_file((fs::path(deck.run.directory) / "deck.resolved.yaml").string(),
                      input::resolved_deck(deck, source, input::DeckPlace::run_directory));
    });
    auto const memory = trainer->memory_use();
    checkpoints->reserve(trainer->state());
    stops.expect_checkpoint(memory.parameters + memory.optimizer);
  }

  void restore(FoundCheckpoint const& found) {
    auto const changed = deck_changes(found.deck, resolved_deck);
    resumed.changes = changes_text(changed);
    resumed.recorded_every = deck.statistics.every;
    if (auto const every = std::ranges::find(changed, "statistics.every", &DeckChange::key); every != changed.end())
      resumed.recorded_every = std::max<std::int64_t>(1, std::strtoll(every->was.c_str(), nullptr, 10));
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
    if (!faults.empty() && !resumed.changes.empty())
      faults.insert(faults.begin(), "settings differ from those of the checkpoint: " + resumed.changes);
    if (!faults.empty()) throw CommonError(faults);
    resumed.path = found.path;
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

  /// Makes steps up to the last one of the schedule, or until something ends the job early.
  Ending make_steps() {
    Ending ending;
    StepRow row;
    while (!last() && !ending.came()) {
      auto const began = RunClock::now();
      auto const outcome = trainer->advance(stops.pending(), row, goes_on());
      ending = {.stopped = outcome.stop,
                .diverged = outcome.skipped_in_a_row >= deck.optimizer.skip_limit,
                .data_fault = outcome.data_fault};
      if (row.skipped != 0 && !std::isfinite(row.gradient_norm)) require_sound_state();
      record->step(row, outcome, *trainer, last());
      checkpoints->poll(*trainer);
      if (outcome.skipped_in_a_row == 0) do_what_is_due();
      // A stop may have to wait for the micro-batches of one more step.
      stops.took_step((trainer->enqueues_ahead() ? 2 : 1) * seconds_since(began));
    }
    return ending;
  }

  /// Call it after a completed step.
  void do_what_is_due() {
    if (!last() && due(deck.run.verify_every)) verify();
    if (last() || due(deck.statistics.evaluate_every)) evaluate();
    if (!last() && due(deck.checkpoint.every)) checkpoints->save_in_passing(*trainer);
  }

  void evaluate() {
    if (trainer->evaluates()) record->evaluation(trainer->evaluate());
  }

  /// Writes the last checkpoint and the summary.
  void close() {
    verify();
    checkpoints->save_last(*trainer);
    record->sum_up(*trainer);
  }

  /// Prints how the job ended. \throws CommonFailure if a fault ended it.
  int exit_code(Ending const& ending) {
    std::string const at = "step " + std::to_string(trainer->step());
    if (!ending.data_fault.empty() && !last())
      throw CommonFailure(ending.data_fault + "; a checkpoint of " + at +
                          " was written: correct the data, then continue with --resume");
    if (ending.diverged)
      throw CommonFailure(at + ": " + counted(deck.optimizer.skip_limit, "step") +
                          " in a row skipped; a checkpoint was written before the run ends");
    bool const early = !last();
    record->finish(early ? "stopped at " + at + how_stopped(ending.stopped) + "; continue with --resume"
                         : "finished at " + at + "; results are in " + deck.run.directory);
    return early ? exit_resubmit : 0;
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
    checkpoints->let_end(*trainer);
    throw UnsoundState("step " + std::to_string(trainer->step()) + ": the state, not the gradient, is at fault: " +
                       found + "; no checkpoint of it is written: continue with --resume from the newest one");
  }

  /// Removes the stop file when the run ends for any reason. Otherwise the next job would stop after one step.
  void remove_stop_file() const noexcept try {
    if (start->loss().empty()) stops.remove_file();
  } catch (std::exception const& error) {
    try {
      if (record) record->warning(error.what());
    } catch (std::exception const&) {  // the error that ends the run matters more
    }
  }

  input::Deck deck;
  std::string resolved_deck;
  TrainingOptions options;
  StopRequests stops;
  comm::World& world;
  std::unique_ptr<RunStart> start;  // released after everything declared below
  input::IoThread io;
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<RunRecord> record;
  std::unique_ptr<RunCheckpoints> checkpoints;
  ResumedFrom resumed;
  std::optional<std::int64_t> verified;  // last step after which all ranks agreed
};

TrainingRun::TrainingRun(input::Deck const& deck, input::DeckSource const& source, TrainingOptions const& options,
                         Interrupt const& interrupt, comm::World& world)
    : impl_(std::make_unique<Impl>(deck, source, options, interrupt, world)) {}
TrainingRun::~TrainingRun() = default;

int TrainingRun::finish() try {
  auto& run = *impl_;
  Ending ending;
  {
    struct StopFileRemoval {
      Impl const& of;
      ~StopFileRemoval() { of.remove_stop_file(); }
    } const whatever_ends_it{run};
    ending = run.make_steps();
    if (ending.stopped == StopReason::directory) run.start->require_kept_together();
    run.close();
  }
  return run.exit_code(ending);
} catch (comm::CollectiveTimeout const& stuck) {
  auto const last = impl_->checkpoints->newest_path();
  throw comm::CollectiveTimeout(stuck.what() + (last.empty() ? "; there is no complete checkpoint yet"
                                                             : "; the last complete checkpoint is " + last));
}

}  // namespace bellwether::app
