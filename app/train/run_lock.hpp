// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "input/files/lock_file.hpp"

#include <string>

namespace bellwether::app {

/// Keeps a run directory for one process: two jobs that resume the same run would overwrite each other's files. Held
/// until destroyed or until the process ends, however it ends. Where the file system has no locks, it keeps nothing
/// and says so.
class RunLock {
 public:
  /// \throws InputError naming the directory and who holds it; RuntimeError where the lock file cannot be made.
  explicit RunLock(std::string const& directory);
  std::string warning() const;  ///< empty where it keeps the directory

 private:
  std::string directory_;
  input::LockFile file_;
};

}  // namespace bellwether::app
