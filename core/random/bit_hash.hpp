// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bellwether {

/// A hash of the bits of each part of a vector: part i is elements [ends[i - 1], ends[i]), the first from 0 on; values
/// are in the memory of `exec`. The sum over a part's elements of mix64(position in the part, bits) modulo 2^64: the
/// same however it is added up, and never the same for two parts that differ in a single element. Waits for the result.
template <class Space>
std::vector<std::uint64_t> bit_hashes(Space const& exec, float const* values, std::span<Index const> ends);
/// The same of one vector of `count` elements.
template <class Space>
std::uint64_t bit_hash(Space const& exec, float const* values, Index count) {
  return bit_hashes(exec, values, std::span(&count, 1)).front();
}

}  // namespace bellwether
