// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/error.hpp"

namespace bellwether::app {

/// What main() lends to the command that the user chose. It outlives the command, so that an error that leaves the
/// command can still be told with the rank of this process, and the job be ended, before MPI goes away.
class Session {
 public:
  Session(int argc, char** argv) : argc_(argc), argv_(argv) {}
  int argc() const { return argc_; }
  char** argv() const { return argv_; }

  int rank() const { return rank_; }  ///< 0 in a command without MPI
  int size() const { return size_; }

 private:
  int argc_;
  char** argv_;
  int rank_ = 0;
  int size_ = 1;
};

/// An error that every rank has found at the same point: rank 0 tells it, nobody needs to be torn down.
class CommonError : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace bellwether::app
