// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "input/threads/io_thread.hpp"

#include "core/system/system_limits.hpp"

#include <algorithm>

namespace bellwether::input {

IoThread::IoThread() : thread_(start_thread("read and write files", [this] { work(); })) {}

IoThread::~IoThread() {
  {
    std::lock_guard const lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void IoThread::push(Priority priority, std::function<void()> task) {
  {
    std::lock_guard const lock(mutex_);
    queues_.at(static_cast<std::size_t>(priority)).push_back(std::move(task));
  }
  wake_.notify_one();
}

void IoThread::drain() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return !busy_ && std::ranges::all_of(queues_, [](auto const& q) { return q.empty(); }); });
}

void IoThread::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto const next = std::ranges::find_if(queues_, [](auto const& queue) { return !queue.empty(); });
    if (next == queues_.end()) {
      idle_.notify_all();
      if (stop_) return;
      wake_.wait(lock);
      continue;
    }
    auto task = std::move(next->front());
    next->pop_front();
    busy_ = true;
    lock.unlock();
    task();
    task = nullptr;  // release what the task holds outside the lock
    lock.lock();
    busy_ = false;
  }
}

}  // namespace bellwether::input
