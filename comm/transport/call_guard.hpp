// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/watchdog.hpp"

#include <memory>

namespace bellwether::comm {

constexpr double usual_start_deadline = 600;
/// Seconds that ranks wait for each other before a deck says so: BELLWETHER_START_DEADLINE, else the usual ones.
/// \throws InputError where that is no number above 0.
double start_deadline();

/// Ends this process with `code` after `seconds`, whatever else hangs; the process is about to end anyway.
void leave_after(double seconds, int code);

/// From here on all is done and written: a call that hangs loses nothing any more, and the process ends with `code`
/// where it would else have failed.
void note_end(int code);

/// Stands around a blocking call of MPI that is none of our collectives, which have deadlines of their own. MPI itself
/// waits for ever for a rank that is masked or stands still. Past the deadline a thread of the guard says so on
/// standard error and ends the process and, where it still can, the job.
class CallGuard {
 public:
  /// call: "MPI_Comm_split", when: "at start-up"; string literals. deadline: seconds. watchdog: asked which ranks do
  /// not answer. Between MPI_Init and MPI_Finalize. Alone, a rank waits for nobody, and nothing is watched.
  CallGuard(char const* call, char const* when, double deadline, Watchdog* watchdog = nullptr);
  ~CallGuard();
  CallGuard(CallGuard const&) = delete;
  CallGuard& operator=(CallGuard const&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::comm
