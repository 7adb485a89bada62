// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/system/system_limits.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace bellwether::input {

/// Processes blocks on several threads and keeps their order. `produce` fills an In and returns false at the end. Each
/// thread creates its own worker with `make_worker`, a callable In -> Out. `consume` gets the Outs in the order of
/// production; it runs on the calling thread, like `produce`. At most 2 blocks per thread are in memory.
/// \throws the first exception of any of them, after the threads have ended; RuntimeError if no thread can start.
template <class In, class Out, class Produce, class MakeWorker, class Consume>
void run_ordered(int threads, Produce const& produce, MakeWorker const& make_worker, Consume const& consume) {
  struct Block {
    In in;
    Out out;
    std::exception_ptr error;
    bool done = false;
  };
  std::mutex mutex;
  std::condition_variable work, ready;
  std::deque<std::shared_ptr<Block>> waiting;
  std::deque<std::shared_ptr<Block>> ordered;
  bool closed = false;

  auto const serve = [&] {
    std::optional<decltype(make_worker())> worker;
    std::exception_ptr error;
    try {
      worker.emplace(make_worker());
    } catch (...) {
      error = std::current_exception();
    }
    for (;;) {
      std::shared_ptr<Block> block;
      {
        std::unique_lock lock(mutex);
        work.wait(lock, [&] { return closed || !waiting.empty(); });
        if (waiting.empty()) return;
        block = std::move(waiting.front());
        waiting.pop_front();
      }
      if (!worker) block->error = error;
      try {
        if (worker) block->out = (*worker)(std::move(block->in));
      } catch (...) {
        block->error = std::current_exception();
      }
      {
        std::lock_guard const lock(mutex);
        block->done = true;
      }
      ready.notify_one();
    }
  };

  struct Joiner {
    std::mutex& mutex;
    std::condition_variable& work;
    std::deque<std::shared_ptr<Block>>& waiting;
    bool& closed;
    std::vector<std::thread> threads;
    ~Joiner() {
      {
        std::lock_guard const lock(mutex);
        closed = true;
        waiting.clear();
      }
      work.notify_all();
      for (auto& thread : threads) thread.join();
    }
  } joiner{mutex, work, waiting, closed, {}};
  for (int i = 0; i < threads; ++i) joiner.threads.push_back(start_thread("work on the text", serve));

  auto const take_oldest = [&] {
    auto const block = ordered.front();
    {
      std::unique_lock lock(mutex);
      ready.wait(lock, [&] { return block->done; });
    }
    ordered.pop_front();
    if (block->error) std::rethrow_exception(block->error);
    consume(std::move(block->out));
  };
  std::size_t const most = 2 * static_cast<std::size_t>(threads);
  for (;;) {
    auto block = std::make_shared<Block>();
    if (!produce(block->in)) break;
    ordered.push_back(block);
    {
      std::lock_guard const lock(mutex);
      waiting.push_back(std::move(block));
    }
    work.notify_one();
    while (ordered.size() >= most) take_oldest();
  }
  while (!ordered.empty()) take_oldest();
}

}  // namespace bellwether::input
