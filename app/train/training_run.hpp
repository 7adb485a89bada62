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

/// Exit code of a run that stopped on request before its last step: it wrote a checkpoint and should be submitted
/// again.
inline constexpr int exit_resubmit = 85;

struct TrainingOptions {
  bool resume = false;
  LogForm log = LogForm::automatic;
  Clock::time_point started = Clock::now();  ///< start of the program; run.walltime counts from here
};

/// A run from its directory to its last checkpoint. Trainer trains; this class records.
class TrainingRun {
 public:
  /// Prepares the run directory and creates all objects. `source` is the text of the deck. `interrupt` must outlive
  /// the run.
  /// \throws InputError if the directory holds another run, or one that cannot be resumed.
  TrainingRun(input::Deck const& deck, input::DeckSource const& source, TrainingOptions const& options,
              Interrupt const& interrupt, comm::World& world);
  ~TrainingRun();

  /// Trains to the last step of the schedule, or until a rank is asked to stop. Returns the exit code.
  int finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::app
