// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/checkpoint/device_copy.hpp"

#include "core/random/bit_hash.hpp"
#include "core/system/error.hpp"
#include "core/types.hpp"

namespace bellwether::app {
namespace {

template <class T, class Space>
using Unmanaged = Kokkos::View<T*, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace

void finish_device_work() { Kokkos::fence("bellwether::checkpoint::finish_device_work"); }

bool host_reads_training_memory() { return !on_devices; }

void copy_from_device(std::span<float const> device, std::span<float> host) {
  require(device.size() == host.size(), "a copy needs equal sizes");
  Exec const exec;
  Kokkos::deep_copy(exec, Unmanaged<float, Kokkos::HostSpace>(host.data(), host.size()),
                    Unmanaged<float const, Mem>(device.data(), device.size()));
  exec.fence("bellwether::checkpoint::copy_from_device");
}

void copy_to_device(std::span<float const> host, std::span<float> device) {
  require(device.size() == host.size(), "a copy needs equal sizes");
  Exec const exec;
  Kokkos::deep_copy(exec, Unmanaged<float, Mem>(device.data(), device.size()),
                    Unmanaged<float const, Kokkos::HostSpace>(host.data(), host.size()));
  exec.fence("bellwether::checkpoint::copy_to_device");
}

HostBuffer::HostBuffer(std::size_t count) {
  auto const memory = std::make_shared<HostCopy<float>>("bellwether::checkpoint::host_buffer", count);
  values_ = {memory->data(), count};
  memory_ = memory;
}

DeviceBuffer::DeviceBuffer(std::size_t count) {
  auto const memory = std::make_shared<Vec<float>>("bellwether::app::device_buffer", count);
  values_ = {memory->data(), count};
  memory_ = memory;
}

std::vector<std::uint64_t> bit_hashes_on_device(std::span<float const> device, std::span<std::int64_t const> ends) {
  finish_device_work();
  return bit_hashes(Exec(), device.data(), ends);
}

}  // namespace bellwether::app
