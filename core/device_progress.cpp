// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/device_progress.hpp"

#include <atomic>
#include <string>

namespace bellwether {

DeviceProgress::DeviceProgress() : done_("bellwether::core::device_progress") {}

void DeviceProgress::mark(Exec const& exec) {
  std::int64_t* const to = done_.data();
  std::int64_t const count = ++marked_;
  Kokkos::parallel_for(
      "bellwether::core::device_progress", Kokkos::RangePolicy<Exec>(exec, 0, 1), KOKKOS_LAMBDA(int) { *to = count; });
}

void DeviceProgress::wait(Exec const& exec, std::int64_t count) const {
  // What a device writes shows here within microseconds. A fence instead of an endless loop: it tells of a device that
  // has failed.
  constexpr int glances = 100'000;
  for (int i = 0; i < glances; ++i)
    if (done() >= count) return;
  static std::string const reason = "bellwether::core::device_progress, the host is ahead";
  exec.fence(reason);
}

std::int64_t DeviceProgress::done() const {
  return std::atomic_ref<std::int64_t>(*done_.data()).load(std::memory_order_acquire);
}

}  // namespace bellwether
