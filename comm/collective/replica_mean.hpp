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

/// That of one rank where all of them share `total` elements, in order and about equally.
Part part_of(std::int64_t total, int rank, int ranks);

/// Mean, over the ranks that hold an element, of what they hold. `held`: this rank's values of elements
/// [first, first + size) of a vector of `total`, in memory of the execution space. Returns the elements of this rank's
/// part_of(), in host memory, summed in double in the order of ranks. Collective; takes rounds of at most 16 MiB.
/// \throws CollectiveTimeout; InternalError where nobody holds an element.
std::vector<float> mean_over_holders(Communicator& data, std::span<float const> held, std::int64_t first,
                                     std::int64_t total);

}  // namespace bellwether::comm
