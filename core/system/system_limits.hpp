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

/// What the system allows this process, for messages about threads and memory that cannot be had.
namespace bellwether {

/// What bounds the number of threads, with values: "`ulimit -u` 64 ...; pids.max 100 of the control group /job, 98 in
/// use". Names `ulimit -v`, too, because stacks of threads count there. `root` stands in front of the paths of files in
/// tests.
std::string thread_limits(std::string const& root = "");

/// What bounds the memory, with values: "`ulimit -v` 2000000 KiB; memory.max 4194304 KiB of the control group /job,
/// ...".
std::string memory_limits(std::string const& root = "");

/// "not enough memory" with the limits and what to do.
std::string out_of_memory();

/// Whether the system refuses this process 8 MiB more.
bool memory_is_short();

/// The text of any exception. Of std::bad_alloc, and of one that tells that Kokkos failed to allocate, with limits.
std::string what_of(std::exception const& error);

/// "no thread to `purpose`: `reason`" with the limits and what to do.
std::string no_thread(std::string_view purpose, std::string_view reason);

/// Starts a thread. `purpose` completes "no thread to ...". \throws RuntimeError where the system refuses it.
template <class Work>
std::thread start_thread(std::string_view purpose, Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (std::system_error const& error) {
    throw RuntimeError(no_thread(purpose, error.code().message()));
  }
}

/// Finds out whether `count` threads more can run at once, by starting them. The OpenMP library ends a process that
/// cannot have its threads. They live until this is destroyed, so that several ranks can hold theirs together.
class ThreadProbe {
 public:
  explicit ThreadProbe(int count);
  ~ThreadProbe();
  ThreadProbe(ThreadProbe const&) = delete;
  ThreadProbe& operator=(ThreadProbe const&) = delete;
  std::string const& reason() const { return reason_; }  ///< why one could not be started; empty: all run

 private:
  struct Impl;
  Impl* impl_;
  std::string reason_;
};

}  // namespace bellwether
