// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <map>

namespace bellwether::app {

/// While one lives, the first SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2 or SIGXCPU only sets a flag, which the trainer
/// reads between steps and shares with the other ranks. Another signal, at least half a second later, does what the
/// signal does by default: the program leaves at once. The pause is there because a terminal, `timeout` and a launcher
/// may each deliver the same key press. Batch systems send SIGTERM; mpirun passes SIGUSR1 and SIGUSR2 on to its ranks.
/// An ignored SIGHUP stays ignored. SIGPIPE is ignored: training outlives the reader of its progress.
class Interrupt {
 public:
  Interrupt();   ///< \throws InternalError where one lives already
  ~Interrupt();  ///< puts the earlier handlers back
  Interrupt(Interrupt const&) = delete;
  Interrupt& operator=(Interrupt const&) = delete;

  bool requested() const;
  int signal() const;  ///< the first one that arrived; 0: none

 private:
  std::map<int, struct sigaction> earlier_;
};

}  // namespace bellwether::app
