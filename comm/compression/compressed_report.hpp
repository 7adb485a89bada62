// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/index.hpp"
#include "core/system/clock.hpp"

#include <cstdint>
#include <vector>

namespace bellwether::comm {

/// Bytes this rank sent for one compressed mean, counted where they are handed to the transport, beside what the dense
/// mean of the same vector would send.
struct CompressedTraffic {
  std::int64_t worker_bytes = 0;       ///< phase 1: signs and scales to the owners of chunks
  std::int64_t server_bytes = 0;       ///< phase 2: the chunk's mean to all
  std::int64_t node_bytes = 0;         ///< of a hierarchy: values to the node's ranks, and what they decode from
  std::int64_t inside_node_bytes = 0;  ///< of all these, to ranks on the same node
  std::int64_t dense_fp32_bytes = 0;
  std::int64_t dense_16bit_bytes = 0;
  std::int64_t sent_bytes() const { return worker_bytes + server_bytes + node_bytes; }
  std::int64_t inter_node_bytes() const { return sent_bytes() - inside_node_bytes; }
};

/// When the host did what for a segment of the last mean.
struct CompressedSegmentTimes {
  Index elements = 0;           ///< whose signs it has
  Clock::time_point sent;       ///< they were formed and handed to the all-to-all
  Clock::time_point received;   ///< those that all ranks have for this one's chunk were there
  Clock::time_point passed_on;  ///< the signs of their mean were formed and handed to the all-gather
  Clock::time_point finished;   ///< those of all chunks were there
};

/// What the last mean did on this rank.
struct CompressedReport {
  std::vector<float> worker_scales;              ///< (scale_groups) S
  std::vector<float> server_scales;              ///< (parts of this rank's chunk) R; empty for an empty chunk
  double worker_error_squared_norm = 0;          ///< |e|^2 after the call
  double server_error_squared_norm = 0;          ///< |d|^2 of this rank's chunk
  std::vector<CompressedSegmentTimes> segments;  ///< in the order in which they travel; none where nothing is sent
};

}  // namespace bellwether::comm
