// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bellwether::comm {

class Communicator;

/// Elements [first, last) of a vector.
struct Part {
  std::int64_t first, last;
  std::int64_t size() const { return last - first; }
};

/// Returns the range of `rank` when `total` elements are divided in order and about equally among `ranks` ranks.
Part part_of(std::int64_t total, int rank, int ranks);

/// Averages each element over the ranks that hold it. Collective; works in rounds of at most 16 MiB. held: this rank's
/// values of elements [first, first + held.size()) of a vector of `total`, in execution space memory. Returns the
/// elements of this rank's part_of() in host memory, summed in double in rank order.
/// \throws CollectiveTimeout; InternalError if no rank holds an element.
std::vector<float> replica_mean(Communicator& data, std::span<float const> held, std::int64_t first,
                                std::int64_t total);

}  // namespace bellwether::comm
