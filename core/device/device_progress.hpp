// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device/launch.hpp"
#include "core/types.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace bellwether {
namespace detail {

struct WriteCount {
  KOKKOS_INLINE_FUNCTION void operator()(int) const { *to = count; }
  std::int64_t* to;
  std::int64_t count;
};

}  // namespace detail

/// Reports the progress of an execution space to the host without a fence. For alternating buffers, and for data copied
/// to pinned memory before a mark.
class DeviceProgress {
 public:
  DeviceProgress() : done_("bellwether::core::device_progress") {}

  /// Enqueues a mark that counts one more piece of work as done, after all earlier work on `exec`.
  void mark(Exec const& exec) {
    launch<"bellwether::core::device_progress">(Kokkos::RangePolicy<Exec>(exec, 0, 1),
                                                detail::WriteCount{done_.data(), ++marked_});
  }
  /// Waits until mark number `count`, counted from 1, has been reached.
  void wait(Exec const& exec, std::int64_t count) const {
    auto const done = [&] {
      return std::atomic_ref<std::int64_t>(*done_.data()).load(std::memory_order_acquire) >= count;
    };
    // Device writes arrive within microseconds: poll first, then sleep between polls to free the core.
    constexpr int glances = 10'000, naps = 1'000'000;
    constexpr std::chrono::microseconds nap(20);
    for (int i = 0; i < glances; ++i)
      if (done()) return;
    for (int i = 0; i < naps; ++i, std::this_thread::sleep_for(nap))
      if (done()) return;
    // Ends with a fence, because only a fence reports a failed device.
    static std::string const reason = "bellwether::core::device_progress, the host is ahead";
    exec.fence(reason);
  }
  std::int64_t marked() const { return marked_; }

 private:
  Kokkos::View<std::int64_t, Kokkos::SharedHostPinnedSpace> done_;
  std::int64_t marked_ = 0;
};

}  // namespace bellwether
