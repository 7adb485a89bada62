// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/watchdog.hpp"

#include <memory>

namespace bellwether::comm {

constexpr double usual_start_timeout = 600;
/// Returns the collective timeout, in seconds, that applies until the deck is read: BELLWETHER_START_DEADLINE, or the
/// default. \throws InputError if the variable is not a number above 0.
double start_timeout();

/// Ends this process with `code` after `seconds`, even if another call hangs. Call it only when the process is ending.
void leave_after(double seconds, int code);

/// Call when all work is done and written. From then on, a call that hangs ends the process with `code`
/// instead of an error code.
void note_end(int code);

struct BeforeMpi {};

/// Watches a blocking MPI call outside our collectives, which have their own timeout. MPI itself waits forever for a
/// rank that is dead or stuck. After the timeout a thread of the guard reports this on standard error, and ends the
/// process and, if possible, the job.
class CallGuard {
 public:
  /// call: "MPI_Comm_split"; when: "at start-up"; both string literals. timeout: seconds. watchdog: reports which
  /// ranks do not answer. Use it between MPI_Init and MPI_Finalize. With one rank it does nothing.
  CallGuard(char const* call, char const* when, double timeout, Watchdog* watchdog = nullptr);
  /// For the start of MPI itself, which waits for every process that the launcher started. Names the host instead of
  /// the rank and ends this process only; the launcher then ends the others.
  CallGuard(BeforeMpi, char const* call, char const* when, double timeout);
  ~CallGuard();
  CallGuard(CallGuard const&) = delete;
  CallGuard& operator=(CallGuard const&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::comm
