// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace bellwether::input {

/// A lock file that at most one process holds at a time. The lock ends when the object is destroyed or the process
/// ends, in whatever way. The file names the holder: "process 123 on host".
class LockFile {
 public:
  enum class State { held, in_use, no_locks };  ///< no_locks: the file system does not support locks

  /// Creates the file if it does not exist and tries to lock it.
  /// \throws RuntimeError naming the file and the system's reason: NoRoom if the system lacks room.
  explicit LockFile(std::string path);
  ~LockFile();
  LockFile(LockFile const&) = delete;
  LockFile& operator=(LockFile const&) = delete;

  State state() const { return state_; }
  std::string owner() const;  ///< the signature in the file, or "another process" if there is none
  bool still_there() const;   ///< false: the file was removed or replaced by another file since
  /// Returns true if it is certain that the name is gone or refers to another file: false while a file system does not
  /// answer, unlike still_there().
  bool is_lost() const;
  void sign() const;  ///< writes this process as the holder. \throws RuntimeError as the constructor does.

 private:
  std::string path_;
  int file_ = -1;
  State state_ = State::no_locks;
};

/// Returns true if the file can be locked, now or after another process releases it. Returns true if the file cannot be
/// read.
bool has_locks(std::string const& path);

}  // namespace bellwether::input
