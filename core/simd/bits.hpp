// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>

namespace bellwether {

// Arguments are passed by value: nvcc would read a reference to device memory byte by byte.

KOKKOS_INLINE_FUNCTION std::uint32_t to_bits(float value) { return Kokkos::bit_cast<std::uint32_t>(value); }
KOKKOS_INLINE_FUNCTION float from_bits(std::uint32_t bits) { return Kokkos::bit_cast<float>(bits); }

}  // namespace bellwether
