// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/checkpoint/checkpoint.hpp"
#include "input/deck/deck.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bellwether::app {

class RunRecord;
class RunStart;
class StopRequests;
class Trainer;

/// The checkpoints of a run: finds the one to resume from, saves while training goes on, and tolerates failed writes up
/// to checkpoint.failure_limit. All member functions are collective.
class RunCheckpoints {
 public:
  /// The objects that take part in a checkpoint. All must outlive this object.
  struct Parts {
    input::Deck const& deck;
    std::string const& resolved_deck;  ///< is written into each checkpoint
    comm::RankGroup& group;            ///< all ranks
    input::IoThread& io;
    RunRecord& record;
    RunStart& start;
    StopRequests& stops;
  };
  explicit RunCheckpoints(Parts const& parts);

  /// Returns the newest complete checkpoint; nothing if there is none. \throws CommonError if all are damaged, or if it
  /// is beyond the last step.
  std::optional<FoundCheckpoint> find();
  void load(FoundCheckpoint const& found, TrainingState const& state) { checkpoints_.load(found, state); }
  void reserve(TrainingState const& state) { checkpoints_.reserve(state); }

  void poll(Trainer& trainer);             ///< advances the checkpoint in progress; call it once a step
  void save_in_passing(Trainer& trainer);  ///< starts a checkpoint; tolerates a failure
  /// Waits for the checkpoint in progress and ignores its failure: a newer one follows, or the run fails anyway.
  void let_end(Trainer const& trainer);
  /// Writes the last checkpoint of the job and waits for it. \throws CommonFailure if it cannot be written.
  void save_last(Trainer& trainer);
  std::string newest_path() const { return checkpoints_.newest_path(); }

 private:
  void tolerate(Trainer const& trainer, std::function<void()> const& work);
  void save(Trainer& trainer);
  void note_first();

  Parts parts_;
  Checkpoints checkpoints_;
  bool wrote_one_ = false;
  std::int64_t failed_ = 0;  // in a row
};

}  // namespace bellwether::app
