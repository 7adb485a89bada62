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

/// Seconds of repeated calls: their median, the fastest and the slowest.
struct Timing {
  double median = 0, fastest = 0, slowest = 0;
};
/// \throws InternalError without any seconds.
Timing timing_of(std::vector<double> seconds);

/// Collective. Of each number the largest that any rank has.
std::vector<double> largest_over_ranks(comm::RankGroup& group, std::vector<double> const& mine);
/// Collective. Whether `mine` is the same 64 bits on all ranks.
bool equal_on_all_ranks(comm::RankGroup& group, std::uint64_t mine);
/// Collective. Whether `mine` holds on all ranks.
bool holds_everywhere(comm::RankGroup& group, bool mine);

/// Rows and columns of the product that measured_gemm_speed() takes: enough for what computes it.
inline constexpr std::int64_t gemm_speed_side(bool on_devices) { return on_devices ? 8192 : 512; }
/// Collective. What this machine's matrix product of a type reaches with all ranks at once, in operations a second, by
/// a short measurement.
double measured_gemm_speed(comm::RankGroup& group, ComputeType type);

/// What benches compare parameters by.
struct Fingerprint {
  std::uint64_t sum = 0;  ///< of all bits and where they are
  bool finite = true;
};
/// Of values in the memory of the execution space. Waits.
Fingerprint fingerprint_of(std::span<float const> values);

/// A claim that was examined, and whether it held on every rank.
struct Check {
  std::string claim;
  bool holds = false;
};

/// 0.0123 as "12.30 ms"; seconds from 1 on.
std::string seconds_text(double seconds);
/// 51.2e9 as "51.2 GB/s".
std::string speed_text(double bytes_per_second);

}  // namespace bellwether::app
