// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/log/progress.hpp"
#include "core/system/clock.hpp"
#include "input/deck/deck.hpp"

#include <memory>
#include <string>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

class Interrupt;

/// "Checkpointed, submit again": what train returns when it was asked to stop before its last step.
inline constexpr int exit_resubmit = 85;

struct TrainingOptions {
  bool resume = false;
  LogForm log = LogForm::automatic;
  Clock::time_point started = Clock::now();  ///< the program, from where run.walltime counts
};

/// A run from its directory to its last checkpoint: what is trained is the Trainer's matter, what is recorded is here.
class TrainingRun {
 public:
  /// Prepares the run directory and builds everything. `source` is what the deck was read from; `interrupt` outlives
  /// the run. \throws InputError where the directory holds another run, or none that can go on.
  TrainingRun(input::Deck const& deck, input::DeckSource const& source, TrainingOptions const& options,
              Interrupt const& interrupt, comm::World& world);
  ~TrainingRun();

  /// Trains to the last step of the schedule or until a rank is asked to stop. Returns the exit code.
  int finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::app
