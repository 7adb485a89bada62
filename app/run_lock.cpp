// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_lock.hpp"

#include "core/error.hpp"

namespace bellwether::app {

RunLock::RunLock(std::string const& directory) : file_(directory + "/.lock") {
  using State = input::LockFile::State;
  if (file_.state() == State::in_use)
    throw InputError("run.directory: " + directory + " is in use by " + file_.owner() +
                     "; wait until it ends or name another directory");
  if (file_.state() == State::held) file_.sign();
}

}  // namespace bellwether::app
