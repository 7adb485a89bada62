// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/types.hpp"

#include <atomic>
#include <string>

namespace bellwether {
namespace detail {

struct WriteCount {
  KOKKOS_INLINE_FUNCTION void operator()(int) const { *to = count; }
  std::int64_t* to;
  std::int64_t count;
};

}  // namespace detail

/// How far an execution space has come, told to the host without a fence: for buffers that take turns.
class DeviceProgress {
 public:
  DeviceProgress() : done_("bellwether::core::device_progress") {}

  /// Counts one more piece of work as done, once all that was given to `exec` before has been.
  void mark(Exec const& exec) {
    Kokkos::parallel_for("bellwether::core::device_progress", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                         detail::WriteCount{done_.data(), ++marked_});
  }
  /// Waits until piece `count`, from 1 on, is done.
  void wait(Exec const& exec, std::int64_t count) const {
    // What a device writes shows here within microseconds. A fence instead of an endless loop: it tells of a device
    // that has failed.
    constexpr int glances = 100'000;
    for (int i = 0; i < glances; ++i)
      if (std::atomic_ref<std::int64_t>(*done_.data()).load(std::memory_order_acquire) >= count) return;
    static std::string const reason = "bellwether::core::device_progress, the host is ahead";
    exec.fence(reason);
  }
  std::int64_t marked() const { return marked_; }

 private:
  Kokkos::View<std::int64_t, Kokkos::SharedHostPinnedSpace> done_;
  std::int64_t marked_ = 0;
};

}  // namespace bellwether
