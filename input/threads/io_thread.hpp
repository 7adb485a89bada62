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

/// The thread that makes every HDF5 call of a process: Debian's HDF5 library is not thread-safe. The program creates
/// one and passes it to all readers and writers. Tasks of one priority run in the order of submission. Among waiting
/// tasks the most urgent priority runs first, so large work should be submitted in small pieces.
class IoThread {
 public:
  enum class Priority { read_ahead, statistics, checkpoint };  ///< most urgent first: training waits for data

  IoThread();
  /// Finishes all submitted tasks.
  ~IoThread();
  IoThread(IoThread const&) = delete;
  IoThread& operator=(IoThread const&) = delete;

  /// Submits a task. The future rethrows its exception. A task must not wait for another task: there is only one
  /// thread.
  template <class Task>
  auto submit(Priority priority, Task task) -> std::future<std::invoke_result_t<Task&>> {
    using Result = std::invoke_result_t<Task&>;
    // std::function requires a copyable target and a packaged task is not copyable, so share it.
    auto packaged = std::make_shared<std::packaged_task<Result()>>(std::move(task));
    auto future = packaged->get_future();
    push(priority, [packaged] { (*packaged)(); });
    return future;
  }
  /// Submits a task and waits for it. On the I/O thread itself it runs the task at once.
  template <class Task>
  auto run(Priority priority, Task task) -> std::invoke_result_t<Task&> {
    if (std::this_thread::get_id() == thread_.get_id()) return task();
    return submit(priority, std::move(task)).get();
  }
  /// Waits until all tasks are done.
  void drain();

 private:
  void push(Priority priority, std::function<void()> task);
  void work();

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::array<std::deque<std::function<void()>>, 3> queues_;
  bool busy_ = false, stop_ = false;
  std::thread thread_;  // last member: starts after all others are initialized
};

}  // namespace bellwether::input
