// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/run_checkpoints.hpp"

#include "app/checkpoint/state_validity.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/launch/stop_requests.hpp"
#include "app/train/run_record.hpp"
#include "app/train/run_start.hpp"
#include "app/train/trainer.hpp"
#include "comm/transport/rank_group.hpp"

#include <exception>

namespace bellwether::app {

RunCheckpoints::RunCheckpoints(Parts const& parts)
    : parts_(parts),
      checkpoints_(
          parts.deck.run.directory,
          CheckpointOptions{.keep = parts.deck.checkpoint.keep, .asynchronous = parts.deck.checkpoint.asynchronous},
          parts.group, parts.io,
          CheckpointHooks{.warn = [this](std::string const& text) { parts_.record.warning(text); },
                          .may_complete = [this] { parts_.record.require_written(); },
                          .may_write = [this] { parts_.start.require_kept(); }}) {}

std::optional<FoundCheckpoint> RunCheckpoints::find() {
  auto found = checkpoints_.find_latest();
  auto const steps = parts_.deck.schedule.steps;
  if (found && found->step > steps)
    throw CommonError("schedule.steps: " + std::to_string(steps) + " is below the step of " + found->path +
                      "; allowed on resume: at least " + std::to_string(found->step));
  return found;
}

/// Runs `work`. Tolerates a checkpoint that could not be written, until too many in a row have failed.
void RunCheckpoints::tolerate(Trainer const& trainer, std::function<void()> const& work) try {
  auto const before = checkpoints_.last_complete();
  work();
  auto const newest = checkpoints_.last_complete();
  if (newest == before) return;
  failed_ = 0;
  parts_.record.checkpoint_in_passing(newest.value(), checkpoints_.path(newest.value()));
} catch (UnsoundState const&) {
  throw;
} catch (CommonFailure const& failure) {
  if (++failed_ >= parts_.deck.checkpoint.failure_limit) throw;
  parts_.record.warning("step " + std::to_string(trainer.step()) + ": " + failure.what() +
                        "; training goes on, and the newest complete checkpoint is kept");
}

void RunCheckpoints::poll(Trainer& trainer) {
  tolerate(trainer, [&] { checkpoints_.poll(); });
  note_first();
  if (auto const seconds = checkpoints_.longest_seconds()) parts_.stops.took_checkpoint(*seconds);
}

/// Records the job's first checkpoint. It counts as progress even at the step where the job started, because the job
/// may have skipped steps and consumed their samples.
void RunCheckpoints::note_first() {
  if (parts_.group.rank() != 0 || wrote_one_ || !checkpoints_.longest_seconds()) return;
  wrote_one_ = true;
  try {
    parts_.start.got_to(checkpoints_.last_complete().value());
  } catch (std::exception const& error) {
    parts_.record.warning(error.what());
  }
}

/// Flushes statistics before the checkpoint: the rows up to its step must be on disk when it is completed. If they
/// cannot be written, the checkpoint is not completed.
void RunCheckpoints::save(Trainer& trainer) {
  parts_.record.flush();
  checkpoints_.save(trainer.step(), parts_.resolved_deck, trainer.state());
}

void RunCheckpoints::save_in_passing(Trainer& trainer) {
  let_end(trainer);
  tolerate(trainer, [&] { save(trainer); });
}

void RunCheckpoints::let_end(Trainer const& trainer) {
  tolerate(trainer, [&] { checkpoints_.wait(); });
}

void RunCheckpoints::save_last(Trainer& trainer) {
  let_end(trainer);
  save(trainer);
  checkpoints_.wait();
  parts_.record.wait();
  note_first();
  if (auto const step = checkpoints_.last_complete()) parts_.record.checkpoint(*step, checkpoints_.path(*step));
}

}  // namespace bellwether::app
