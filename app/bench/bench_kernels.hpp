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

/// One kernel over vectors that no cache holds.
struct KernelSpeed {
  std::string name{};
  std::int64_t elements = 0;  ///< that a call treats: n, or a rank's share of it
  double bytes = 0;           ///< an element: the least, each number that is read or written once
  Timing call{};              ///< each call takes as long as on its slowest rank
  double over_copy = 0;       ///< its bytes a second over those of a copy, of whose forms the faster counts
  double over_triad = 0;      ///< over those of a[k] = b[k] + 3 c[k]
};

/// All kernels by one execution space.
struct KernelsResult {
  std::string where{};  ///< "1 thread", "2 threads" or the device
  std::vector<KernelSpeed> kernels{};
  std::vector<Check> checks{};
};

/// Collective; all ranks run at once. What packs signs and takes them apart again, the kernels of the compressed mean
/// as it uses them, those of the dense one, and this memory's own speed by copies and triad, called in turn: by one
/// thread of the host, then by all that a rank has or its device, where that is more. Results are checked: signs, the
/// law of error feedback, and values by plain formulas. \throws CommonError where the ranks of a host have no room.
std::vector<KernelsResult> bench_kernels(comm::World& world, KernelsBench const& bench);

/// A kernel's bytes a second.
inline double speed_of(KernelSpeed const& kernel) {
  return kernel.bytes * static_cast<double>(kernel.elements) / kernel.call.median;
}

/// Bytes that a rank needs for it.
std::int64_t kernels_bench_bytes(std::int64_t elements);

}  // namespace bellwether::app
