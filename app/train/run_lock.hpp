// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/files/lock_file.hpp"

#include <string>

namespace bellwether::app {

/// Locks a run directory for one process, because two jobs that resume the same run would overwrite each other's files.
/// The lock ends with the object or with the process. Without file locks in the file system it does nothing and has a
/// warning.
class RunLock {
 public:
  /// \throws InputError naming the directory and the owner of the lock; RuntimeError if the lock file cannot be
  /// created.
  explicit RunLock(std::string const& directory);
  /// Returns "what; what to do" if the directory is no longer the one that was locked; otherwise an empty text.
  std::string loss() const;
  std::string warning() const;  ///< empty if the directory is locked

 private:
  std::string directory_;
  input::LockFile file_;
};

}  // namespace bellwether::app
