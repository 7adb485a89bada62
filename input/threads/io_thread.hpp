// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace bellwether::input {

/// The thread that owns every HDF5 call of a process: Debian's HDF5 library is not thread-safe. One is made by the
/// program and handed to what reads and writes. Tasks of one priority run in the order they were submitted; among
/// waiting tasks the most urgent priority goes first, so large work is to be submitted in small pieces.
class IoThread {
 public:
  enum class Priority { read_ahead, statistics, checkpoint };  ///< most urgent first: training waits for data

  IoThread();
  /// Finishes every task submitted.
  ~IoThread();
  IoThread(IoThread const&) = delete;
  IoThread& operator=(IoThread const&) = delete;

  /// What the task throws comes out of the future. A task must not wait for another task: there is one thread.
  template <class Task>
  auto submit(Priority priority, Task task) -> std::future<std::invoke_result_t<Task&>> {
    using Result = std::invoke_result_t<Task&>;
    // std::function wants what can be copied, a packaged task cannot be: share it.
    auto packaged = std::make_shared<std::packaged_task<Result()>>(std::move(task));
    auto future = packaged->get_future();
    push(priority, [packaged] { (*packaged)(); });
    return future;
  }
  /// Submits and waits; on the I/O thread itself, runs at once.
  template <class Task>
  auto run(Priority priority, Task task) -> std::invoke_result_t<Task&> {
    if (std::this_thread::get_id() == thread_.get_id()) return task();
    return submit(priority, std::move(task)).get();
  }
  /// Waits until no task is left.
  void drain();

 private:
  void push(Priority priority, std::function<void()> task);
  void work();

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::array<std::deque<std::function<void()>>, 3> queues_;
  bool busy_ = false, stop_ = false;
  std::thread thread_;  // last: starts when the rest is there
};

}  // namespace bellwether::input
