// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// Access to execution space memory for sources that do not include Kokkos.
namespace bellwether::app {

/// Waits for all kernels launched before.
void finish_device_work();
/// Returns true if the host can read execution space memory without a copy.
bool host_reads_training_memory();
/// Both (count). They block.
void copy_from_device(std::span<float const> device, std::span<float> host);
void copy_to_device(std::span<float const> host, std::span<float> device);
/// Zero-initialised host memory whose pages are already mapped, so that devices copy to it at full speed.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// count: number of floats. \throws std::exception if the host has not enough memory.
  explicit HostBuffer(std::size_t count);
  std::span<float> values() const { return values_; }
  std::size_t size() const { return values_.size(); }

 private:
  std::shared_ptr<void> memory_;
  std::span<float> values_;
};
/// Zero-initialised execution space memory.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count);
  std::span<float> values() const { return values_; }

 private:
  std::shared_ptr<void> memory_;
  std::span<float> values_;
};
/// Returns bit_hashes() of the values after all kernels launched before have ended.
std::vector<std::uint64_t> bit_hashes_on_device(std::span<float const> device, std::span<std::int64_t const> ends);

}  // namespace bellwether::app
