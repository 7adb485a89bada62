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

/// One way to form the mean over ranks of a vector of n floats.
struct CollectiveResult {
  std::string name{};
  Timing latency{};             ///< of a call; each call takes as long as on its slowest rank
  std::int64_t sent_bytes = 0;  ///< in a call, most that any rank sent; of the library's the vector once, as counted
  double share_of_dense = 0;    ///< bytes of the dense mean in fp32 over these; 0: nothing is sent
  std::vector<Check> checks{};
};

/// Collective. Dense means with both wires, those of the library (comm.allreduce: library, and on hosts a blocking
/// MPI_Allreduce) and the compressed mean of a = U(-0.5, 0.5) + 0.01 rank, called in turn. A group of one sends
/// nothing; its compressed mean compresses all the same. Results are checked: dense ones bit for bit with the sum in
/// rank order, the library's up to rounding; the first compressed one with oracle O8 of
/// docs/developer/onebit_methods.md, section 7 (signs and one magnitude, averaged densely, then signs and one magnitude
/// for each chunk: at most 1e-6 apart, where the value that the owner of a chunk compresses is not within 1e-6 of 0);
/// all together with the law of error feedback. \throws CommonError where the ranks of a host have no room for it.
std::vector<CollectiveResult> bench_collectives(comm::World& world, CollectivesBench const& bench);

/// Bytes that a rank needs for it.
std::int64_t collectives_bench_bytes(std::int64_t elements, int ranks);

}  // namespace bellwether::app
