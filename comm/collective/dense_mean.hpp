// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/collective/segment_times.hpp"
#include "comm/transport/communicator.hpp"

#include <span>
#include <vector>

namespace bellwether::comm {

/// Dense mean over P ranks: reduce-scatter (as an all-to-all plus a local sum in rank order), then all-gather. The
/// result is bitwise equal on all ranks and transports. Chunk j holds elements [floor(j n / P), floor((j+1) n / P)).
/// Rank j sums chunk j in fp32 and divides once by P; every rank receives that result. With Wire::bf16, values are
/// rounded once before sending; the fp32 mean is rounded once more, also on the rank that computed it. NaN and infinity
/// propagate. Buffers persist: after construction, only the communicator may still allocate.
class DenseMean {
 public:
  /// count: length of the longest vector. The communicator must outlive this object.
  /// \throws InputError for Allreduce::library with Wire::bf16, which the library does not support.
  DenseMean(Communicator& communicator, Index count, Wire wire, Allreduce method);
  ~DenseMean();
  DenseMean(DenseMean&& other) noexcept;
  /// Starts the mean; only one at a time. inout: (count) floats in execution space memory: this rank's vector in, the
  /// mean out. The caller must not touch it until wait() returns. With P = 1 it stays unchanged for either wire type.
  void start(Exec const& exec, Vec<float> const& inout);
  /// Completes all remaining phases.
  void wait(Exec const& exec);
  /// The phases of wait(), for callers that overlap several means. Function scattered() returns true once this rank's
  /// chunk has arrived from all ranks; gather() then sums it and starts the all-gather without blocking. Once
  /// gathered() returns true, wait() does not block either.
  bool scattered() const;
  void gather(Exec const& exec);
  bool gathered() const;
  /// Returns the bytes that `rank` sends for one mean of `count` elements, by formula; a test compares it with the
  /// counters. For Allreduce::library this is the size of the vector: the library's own traffic is unknown.
  static std::int64_t predicted_bytes(Index count, int rank, int size, Wire wire, Allreduce method);
  /// Returns the same for this rank of `group`, with the intra-node share.
  static Traffic predicted_traffic(Communicator const& group, Index count, Wire wire, Allreduce method);
  std::int64_t buffer_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Dense mean of a long vector in segments. Each segment is a DenseMean and may start while later segments are still
/// being computed. The mean is elementwise, so segmentation does not change any bit. Scatters start in segment order,
/// and so do gathers. Arrival times decide how the two interleave, except on transports that leave the host free:
/// there, all gathers follow the last scatter.
class SegmentedMean {
 public:
  /// counts: (segments) elements per segment. The communicator must outlive this object.
  SegmentedMean(Communicator& communicator, std::span<Index const> counts, Wire wire, Allreduce method);
  /// During stack unwinding, leaks the buffers that the transport may still write to.
  ~SegmentedMean();

  std::size_t segments() const { return means_.size(); }
  std::size_t started() const { return started_; }
  /// Starts the next segment. inout: this rank's values in, the mean out; must not be touched until wait() returns.
  void start(Exec const& exec, Vec<float> const& inout);
  /// Advances the segments whose data has arrived; does not block.
  void advance(Exec const& exec);
  /// Completes all remaining phases. Requires that all segments were started.
  void wait(Exec const& exec);
  std::vector<SegmentTimes> const& times() const { return times_; }  ///< of the last mean

  std::int64_t buffer_bytes() const;

 private:
  void gather_next(Exec const& exec);
  void finish_next(Exec const& exec);

  Communicator& communicator_;
  std::vector<DenseMean> means_;
  std::vector<SegmentTimes> times_;
  std::size_t started_ = 0, gathering_ = 0, finished_ = 0;  // number of segments in each state
};

}  // namespace bellwether::comm
