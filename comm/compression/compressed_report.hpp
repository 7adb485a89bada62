// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"
#include "core/system/clock.hpp"

#include <cstdint>
#include <vector>

namespace bellwether::comm {

/// Bytes this rank sent for one compressed mean, counted when handed to the transport. The dense_ members give the
/// bytes of a dense mean of the same vector, for comparison.
struct CompressedTraffic {
  std::int64_t worker_bytes = 0;      ///< phase 1: signs and scales to the owners of chunks
  std::int64_t server_bytes = 0;      ///< phase 2: signs and scales of the mean to all ranks
  std::int64_t node_bytes = 0;        ///< hierarchy: values and decoded messages within the node
  std::int64_t intra_node_bytes = 0;  ///< intra-node part of all these
  std::int64_t dense_fp32_bytes = 0;
  std::int64_t dense_16bit_bytes = 0;
  std::int64_t sent_bytes() const { return worker_bytes + server_bytes + node_bytes; }
  std::int64_t inter_node_bytes() const { return sent_bytes() - intra_node_bytes; }
};

/// Times at which the host reached each phase of a segment of the last mean.
struct CompressedSegmentTimes {
  Index elements = 0;           ///< elements whose signs the segment carries
  Clock::time_point sent;       ///< the signs were formed and handed to the all-to-all
  Clock::time_point received;   ///< all ranks' signs of this rank's chunk arrived
  Clock::time_point passed_on;  ///< the signs of the mean were formed and handed to the all-gather
  Clock::time_point finished;   ///< the signs of all chunks arrived
};

/// Scales, errors and times of the last mean on this rank.
struct CompressedReport {
  std::vector<float> worker_scales;              ///< (scale_groups) S
  std::vector<float> server_scales;              ///< (parts of this rank's chunk) R; empty for an empty chunk
  double worker_error_squared_norm = 0;          ///< |e|^2 after the call
  double server_error_squared_norm = 0;          ///< |d|^2 of this rank's chunk
  std::vector<CompressedSegmentTimes> segments;  ///< in the order sent; empty if nothing was sent
};

}  // namespace bellwether::comm
