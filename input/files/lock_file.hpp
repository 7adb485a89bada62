// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::input {

/// A file that one process at a time holds, until destroyed or until the process ends, however it ends. It says who:
/// "process 123 on host".
class LockFile {
 public:
  enum class State { held, in_use, no_locks };  ///< the last: the file system has none

  /// Makes the file where there is none and tries to take it. \throws RuntimeError naming it and the system's reason.
  explicit LockFile(std::string path);
  ~LockFile();
  LockFile(LockFile const&) = delete;
  LockFile& operator=(LockFile const&) = delete;

  State state() const { return state_; }
  std::string owner() const;  ///< who signed it, "another process" where nobody did
  bool still_there() const;   ///< false: the name is gone or another file's by now
  void sign() const;          ///< as this process. \throws RuntimeError as above.

 private:
  std::string path_;
  int file_ = -1;
  State state_ = State::no_locks;
};

/// Whether a file that can be read can be locked, for now or once somebody else lets go of it.
bool has_locks(std::string const& path);

}  // namespace bellwether::input
