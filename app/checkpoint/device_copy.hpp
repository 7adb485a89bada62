// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// What sources that do not see Kokkos want of the memory of the execution space.
namespace bellwether::app {

/// Returns when everything launched before has ended.
void finish_device_work();
/// Whether what Exec works on needs no copy to be read by the host.
bool host_reads_training_memory();
/// Both (count). Blocks.
void copy_from_device(std::span<float const> device, std::span<float> host);
void copy_to_device(std::span<float const> host, std::span<float> device);
/// Zeros in host memory, of pages that are there, to which a device copies at full speed.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// count: of floats. \throws std::exception where the host has not as much.
  explicit HostBuffer(std::size_t count);
  std::span<float> values() const { return values_; }
  std::size_t size() const { return values_.size(); }

 private:
  std::shared_ptr<void> memory_;
  std::span<float> values_;
};
/// The same in the memory of the execution space.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count);
  std::span<float> values() const { return values_; }

 private:
  std::shared_ptr<void> memory_;
  std::span<float> values_;
};
/// bit_hashes() of what is there once everything launched before has ended.
std::vector<std::uint64_t> bit_hashes_on_device(std::span<float const> device, std::span<std::int64_t const> ends);

}  // namespace bellwether::app
