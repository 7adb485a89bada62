// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

/// Copies between host memory and the memory of the execution space, for sources that do not see Kokkos.
namespace bellwether::app {

/// Returns when everything launched before has ended.
void finish_device_work();
/// Both (count). Blocks.
void copy_from_device(std::span<float const> device, std::span<float> host);
void copy_to_device(std::span<float const> host, std::span<float> device);

}  // namespace bellwether::app
