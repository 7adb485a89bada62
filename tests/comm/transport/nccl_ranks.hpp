// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/nccl_group.hpp"
#include "tests/comm/transport/stand_in_gpu.hpp"

#include <functional>

/// Several ranks in one process, on the replacements for NCCL and the device.
namespace bellwether::comm::test {

constexpr double never = 1000, soon = 0.4;  // s
constexpr Label words = "bellwether::test::words";

struct Rank {
  std::unique_ptr<NcclGroup> group;
  cudaStream_t stream = nullptr;  ///< the caller's stream
};

inline ncclUniqueId new_id() {
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  return id;
}

/// timeout: applies once all ranks have started.
inline std::vector<Rank> make_ranks(int size, double timeout, Watchdog* watchdog = nullptr) {
  stand_in_gpu::reset();
  std::vector<Rank> ranks(static_cast<std::size_t>(size));
  ncclUniqueId const id = new_id();
  std::vector<std::thread> starts;
  for (int rank = 0; rank < size; ++rank) {
    auto& one = ranks[static_cast<std::size_t>(rank)];
    one.stream = stand_in_gpu::new_stream();
    starts.emplace_back(
        [&one, id, rank, size, watchdog] { one.group = std::make_unique<NcclGroup>(id, rank, size, never, watchdog); });
  }
  for (auto& start : starts) start.join();
  for (auto& rank : ranks) rank.group->set_timeout(timeout);
  return ranks;
}

inline Request gather(Rank& rank, std::byte const* mine, std::byte* all, std::int64_t chunk, Label label = words) {
  return rank.group->start(rank.stream, "all-gather", label, chunk,
                           [&](NcclCalls const& calls) { calls.allgather(mine, all, chunk); });
}

/// Waits up to ten seconds for a condition that another thread fulfils; returns false on a timeout.
inline bool comes(std::function<bool()> const& condition) {
  for (auto const start = Clock::now(); seconds_since(start) < 10; std::this_thread::yield())
    if (condition()) return true;
  return false;
}

/// Returns the failure text of a group; waits for the group's thread to set it.
inline std::string failure_of(NcclGroup& group) {
  std::string text;
  comes([&] {
    try {
      group.throw_if_failed();
    } catch (CollectiveTimeout const& error) {
      text = error.what();
    }
    return !text.empty();
  });
  return text;
}

inline void stand_still(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace bellwether::comm::test
