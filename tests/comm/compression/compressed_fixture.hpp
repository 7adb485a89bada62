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

/// Element k of a rank's vector: signs and magnitudes from `octaves` octaves below 1, reproducible everywhere.
float random_input(int rank, Index k, std::uint64_t seed, double octaves);
/// A rank's whole vector, (n), and those of all ranks, (P, n).
std::vector<float> random_vector(int rank, Index count, std::uint64_t seed, double octaves);
std::vector<std::vector<float>> random_inputs(int ranks, Index count, std::uint64_t seed, double octaves);

/// The mean of vectors that lie in memory, read back element by element.
std::vector<float> mean_of(comm::CompressedAllreduce& mean, Exec const& exec, std::vector<float> const& mine);
std::vector<float> mean_of(comm::HierarchicalAllreduce& mean, Exec const& exec, std::vector<float> const& mine,
                           std::int32_t const* skip = nullptr);

/// Number of elements that differ in a bit.
std::int64_t differences(std::vector<float> const& a, std::vector<float> const& b);
/// Equal on all ranks, to the bit: rank 0's values, compared everywhere. Collective.
bool equal_on_all_ranks(comm::Communicator& group, std::vector<float> const& mine);

}  // namespace bellwether::test
