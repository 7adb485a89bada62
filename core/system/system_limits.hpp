// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/error.hpp"

#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

/// Limits of the system on this process, for messages about missing threads, memory and open files.
namespace bellwether {

/// Returns the limits on threads with values: "`ulimit -u` 64 ...; pids.max 100 of the control group /job, 98 in use".
/// Includes `ulimit -v`, because thread stacks count towards it. root: prefix of the paths read, for tests.
std::string thread_limits(std::string const& root = "");

/// Returns the limits on memory with values: "`ulimit -v` 2000000 KiB; memory.max 4194304 KiB of the
/// control group /job, ...".
std::string memory_limits(std::string const& root = "");

/// Returns the limits on open files with values: "`ulimit -n` 1024 open files of this process".
std::string file_limits(std::string const& root = "");

/// Returns true if an error's text gives too many open files, of this process or of the machine, as the reason.
bool tells_too_many_files(std::string_view text);

/// Returns "not enough memory" with the limits and advice.
std::string out_of_memory();

/// Returns true if the system denies this process another 8 MiB.
bool memory_is_short();

/// Returns the text of an exception; adds the limits for std::bad_alloc, failed allocations of Kokkos and too many open
/// files.
std::string what_of(std::exception const& error);

/// Returns "no thread to `purpose`: `reason`" with the limits and advice.
std::string no_thread(std::string_view purpose, std::string_view reason);

/// Starts a thread. purpose: completes "no thread to ...". \throws RuntimeError if the system cannot start it.
template <class Work>
std::thread start_thread(std::string_view purpose, Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (std::system_error const& error) {
    throw RuntimeError(no_thread(purpose, error.code().message()));
  }
}

/// Tests whether `count` more threads can run at once by starting them. (The OpenMP library ends a process that cannot
/// have its threads.) They live until destruction, so that several ranks can hold their threads at the same time.
class ThreadProbe {
 public:
  explicit ThreadProbe(int count);
  ~ThreadProbe();
  ThreadProbe(ThreadProbe const&) = delete;
  ThreadProbe& operator=(ThreadProbe const&) = delete;
  std::string const& reason() const { return reason_; }  ///< why a thread could not start; empty: all run

 private:
  struct Impl;
  Impl* impl_;
  std::string reason_;
};

}  // namespace bellwether
