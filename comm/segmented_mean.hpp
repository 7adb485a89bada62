// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/mean.hpp"
#include "core/clock.hpp"

#include <span>
#include <vector>

namespace bellwether::comm {

/// When the host did what for a segment.
struct SegmentTimes {
  Index elements = 0;
  Clock::time_point started;   ///< this rank's part was handed to the transport
  Clock::time_point summed;    ///< this rank's chunk of all ranks was there, and its sum was handed on
  Clock::time_point finished;  ///< the mean was there
};

/// The dense mean of one long vector in segments, each a DenseMean, that travel one after the other in a given order,
/// those whose elements are there while others are still being formed. A mean is formed element by element: no cut
/// changes a bit. Scatters are started in the order of segments and so are gathers; how the two interleave depends on
/// what has arrived, but for transports that leave the host free: there all gathers follow the last scatter.
class SegmentedMean {
 public:
  /// counts: (segments) elements of each. The communicator must outlive the mean.
  SegmentedMean(Communicator& communicator, std::span<Index const> counts, Wire wire, Allreduce method);
  /// While an exception unwinds the stack, what transport may still write to is kept for good.
  ~SegmentedMean();

  std::size_t segments() const { return means_.size(); }
  std::size_t started() const { return started_; }
  /// The next segment, `inout`: this rank's in, the mean out; untouched by the caller until wait() returns.
  void start(Exec const& exec, Vec<float> const& inout);
  /// Goes on with what has arrived; waits for nobody.
  void advance(Exec const& exec);
  /// Once all are started: does all that is left to do.
  void wait(Exec const& exec);
  std::vector<SegmentTimes> const& times() const { return times_; }  ///< of the last mean

  std::int64_t buffer_bytes() const;

 private:
  void gather_next(Exec const& exec);
  void finish_next(Exec const& exec);

  Communicator& communicator_;
  std::vector<DenseMean> means_;
  std::vector<SegmentTimes> times_;
  std::size_t started_ = 0, gathering_ = 0, finished_ = 0;  // of the first segments
};

}  // namespace bellwether::comm
