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

struct KernelsBench {
  std::int64_t elements = 0;  ///< n of the vectors
  int warmup = 10, calls = 10;
};

/// The speed of one kernel over vectors that are larger than the caches.
struct KernelSpeed {
  std::string name{};
  std::int64_t elements = 0;  ///< processed by a call: n, or a rank's share of it
  double bytes = 0;           ///< minimum bytes per element: each number is read or written once
  Timing call{};              ///< of a call, on its slowest rank
  double over_copy = 0;       ///< its bytes/s over those of the faster copy kernel
  double over_triad = 0;      ///< its bytes/s over those of a[k] = b[k] + 3 c[k]
};

/// All kernels in one execution space.
struct KernelsResult {
  std::string where{};  ///< "1 thread", "2 threads" or the device
  std::vector<KernelSpeed> kernels{};
  std::vector<Check> checks{};
};

/// Collective. Times kernels on all ranks at once, called in turn: packing and unpacking of signs, and the kernels of
/// the compressed and of the dense mean. Copies and a triad measure the speed of the memory. Runs them with one host
/// thread, then with all threads of a rank or its device, if it has more. Checks signs, the law of error feedback, and
/// values by plain formulas. \throws CommonError if the ranks of a host do not have enough memory.
std::vector<KernelsResult> bench_kernels(comm::World& world, KernelsBench const& bench);

/// Returns a kernel's bytes per second.
inline double speed_of(KernelSpeed const& kernel) {
  return kernel.bytes * static_cast<double>(kernel.elements) / kernel.call.median;
}

/// Returns the bytes of memory that bench_kernels() needs on each rank.
std::int64_t kernels_bench_bytes(std::int64_t elements);

}  // namespace bellwether::app
