// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>

namespace bellwether {

// What is cast comes by value: where it is still in a device's memory, nvcc reads it byte after byte.

KOKKOS_INLINE_FUNCTION std::uint32_t to_bits(float value) { return Kokkos::bit_cast<std::uint32_t>(value); }
KOKKOS_INLINE_FUNCTION float from_bits(std::uint32_t bits) { return Kokkos::bit_cast<float>(bits); }

}  // namespace bellwether
