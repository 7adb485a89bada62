// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/run_lock.hpp"

#include "core/system/error.hpp"

namespace bellwether::app {

RunLock::RunLock(std::string const& directory) : directory_(directory), file_(directory + "/.lock") {
  using State = input::LockFile::State;
  if (file_.state() == State::in_use)
    throw InputError("run.directory: " + directory + " is in use by " + file_.owner() +
                     "; wait until it ends or name another directory");
  if (file_.state() == State::held) file_.sign();
}

std::string RunLock::warning() const {
  if (file_.state() == input::LockFile::State::held) return "";
  return "run.directory: the file system of " + directory_ +
         " has no locks: nothing prevents another job from running there at the same time";
}

}  // namespace bellwether::app
