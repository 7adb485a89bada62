// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/machine/timing.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::comm {
class World;
}

namespace bellwether::app {

struct CollectivesBench {
  std::int64_t elements = 0;  ///< n of the vector
  int warmup = 10, calls = 10;
};

/// Measurements of one algorithm for the mean over ranks of a vector of n floats.
struct CollectiveResult {
  std::string name{};
  Timing latency{};             ///< of a call, on its slowest rank
  std::int64_t sent_bytes = 0;  ///< per call, the maximum over ranks; a library allreduce counts the vector once
  double share_of_dense = 0;    ///< bytes of the dense fp32 mean over sent_bytes; 0: nothing is sent
  std::vector<Check> checks{};
};

/// Collective. Times means of a = U(-0.5, 0.5) + 0.01 rank, called in turn. They are the dense mean with an fp32 and
/// with a bf16 wire, the library's, and the compressed one. The library's are comm.allreduce: library and, on hosts, a
/// blocking MPI_Allreduce. A single rank sends nothing, but its compressed mean still compresses. Checks three things.
/// - The ordered dense means equal the sum in rank order bit for bit. The library's are equal up to rounding.
/// - The first compressed mean matches oracle O8 of docs/developer/onebit_methods.md, section 7. Elements differ by at
///   most 1e-6. Values within 1e-6 of 0 at the owner of the chunk are left out.
/// - All compressed means together satisfy the law of error feedback.
///
/// \throws CommonError if the ranks of a host do not have enough memory.
std::vector<CollectiveResult> bench_collectives(comm::World& world, CollectivesBench const& bench);

/// Returns the bytes of memory that bench_collectives() needs on each rank.
std::int64_t collectives_bench_bytes(std::int64_t elements, int ranks);

}  // namespace bellwether::app
