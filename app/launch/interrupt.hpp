// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <map>

namespace bellwether::app {

/// Handles SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2 and SIGXCPU during its lifetime. The first signal only sets a
/// flag, which the trainer reads between steps and shares with the other ranks. A second signal at least half a second
/// later has its default effect: the program ends immediately. The delay is needed because a terminal, `timeout` and a
/// launcher may each deliver the same key press. Batch systems send SIGTERM; mpirun forwards SIGUSR1 and SIGUSR2 to its
/// ranks. An ignored SIGHUP stays ignored. SIGPIPE is ignored, so that training continues when the reader of its output
/// ends.
class Interrupt {
 public:
  Interrupt();   ///< \throws InternalError if another one exists
  ~Interrupt();  ///< restores the earlier handlers
  Interrupt(Interrupt const&) = delete;
  Interrupt& operator=(Interrupt const&) = delete;

  bool requested() const;
  int signal() const;  ///< the first signal that arrived; 0: none

 private:
  std::map<int, struct sigaction> earlier_;
};

}  // namespace bellwether::app
