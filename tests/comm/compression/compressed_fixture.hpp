// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/hierarchical_allreduce.hpp"
#include "core/random/random.hpp"
#include "tests/support/compressed_reference.hpp"
#include "tests/support/vectors.hpp"
#include "tests/support/world.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::test {

/// Returns element k of a rank's vector: random sign, magnitude within `octaves` octaves below 1; the same everywhere.
float random_input(int rank, Index k, std::uint64_t seed, double octaves);
/// Return the vector of a rank, (n), and of all ranks, (P, n).
std::vector<float> random_vector(int rank, Index count, std::uint64_t seed, double octaves);
std::vector<std::vector<float>> random_inputs(int ranks, Index count, std::uint64_t seed, double octaves);

/// Returns the mean of vectors in host memory.
std::vector<float> mean_of(comm::CompressedAllreduce& mean, Exec const& exec, std::vector<float> const& mine);
std::vector<float> mean_of(comm::HierarchicalAllreduce& mean, Exec const& exec, std::vector<float> const& mine,
                           std::int32_t const* skip = nullptr);

/// Returns the number of elements that differ in at least one bit.
std::int64_t differences(std::vector<float> const& a, std::vector<float> const& b);
/// Checks that all ranks have rank 0's values, bit for bit. Collective.
bool equal_on_all_ranks(comm::Communicator& group, std::vector<float> const& mine);

}  // namespace bellwether::test
