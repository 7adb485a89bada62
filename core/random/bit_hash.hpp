// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bellwether {

/// Hashes the bits of each part of a vector; waits for the result. Part i is elements [ends[i - 1], ends[i]); the
/// first starts at 0. values: in the memory of `exec`. The hash is the sum over the elements of mix64(position in the
/// part, bits) modulo 2^64. It does not depend on the order of summation, and two parts that differ in one element
/// have different hashes.
template <class Space>
std::vector<std::uint64_t> bit_hashes(Space const& exec, float const* values, std::span<Index const> ends);
/// Returns the hash of one vector of `count` elements.
template <class Space>
std::uint64_t bit_hash(Space const& exec, float const* values, Index count) {
  return bit_hashes(exec, values, std::span(&count, 1)).front();
}

}  // namespace bellwether
