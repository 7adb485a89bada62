// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/compute_type.hpp"
#include "core/system/clock.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bellwether::comm {
class RankGroup;
}

namespace bellwether::app {

/// Statistics of repeated calls, in seconds.
struct Timing {
  double median = 0, fastest = 0, slowest = 0;
};
/// \throws InternalError if `seconds` is empty.
Timing timing_of(std::vector<double> seconds);

/// Collective. Returns the maximum over ranks of each number.
std::vector<double> largest_over_ranks(comm::RankGroup& group, std::vector<double> const& mine);
/// Collective. Returns true if `mine` has the same 64 bits on all ranks.
bool equal_on_all_ranks(comm::RankGroup& group, std::uint64_t mine);
/// Collective. Returns true if `mine` is true on all ranks.
bool holds_everywhere(comm::RankGroup& group, bool mine);

/// Rows and columns of the product in measured_gemm_speed(), large enough for full speed.
inline constexpr std::int64_t gemm_speed_side(bool on_devices) { return on_devices ? 8192 : 512; }
/// Collective. Measures the speed of this machine's matrix product of a type with all ranks at once. Returns operations
/// per second, summed over ranks. Takes a short time.
double measured_gemm_speed(comm::RankGroup& group, ComputeType type);

/// Fingerprint by which benches compare parameters.
struct Fingerprint {
  std::uint64_t sum = 0;  ///< hash of all bits and their positions
  bool finite = true;
};
/// values: in execution space memory. Waits.
Fingerprint fingerprint_of(std::span<float const> values);

/// A checked claim; `holds` if it is true on every rank.
struct Check {
  std::string claim;
  bool holds = false;
};

/// Returns 0.0123 as "12.30 ms"; seconds from 1 s on.
std::string seconds_text(double seconds);
/// Returns 51.2e9 as "51.2 GB/s".
std::string speed_text(double bytes_per_second);

}  // namespace bellwether::app
