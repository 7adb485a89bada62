// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// What sources that do not see Kokkos want of the memory of the execution space.
namespace bellwether::app {

/// Returns when everything launched before has ended.
void finish_device_work();
/// Both (count). Blocks.
void copy_from_device(std::span<float const> device, std::span<float> host);
void copy_to_device(std::span<float const> host, std::span<float> device);
/// bit_hashes() of what is there once everything launched before has ended.
std::vector<std::uint64_t> bit_hashes_on_device(std::span<float const> device, std::span<std::int64_t const> ends);

}  // namespace bellwether::app
