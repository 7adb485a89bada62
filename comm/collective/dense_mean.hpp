// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/transport/communicator.hpp"
#include "core/system/clock.hpp"

#include <span>
#include <vector>

namespace bellwether::comm {

/// Our own dense mean over ranks: reduce-scatter as an all-to-all, sum in rank order, all-gather. Bitwise equal on all
/// ranks and transports. Chunk j is elements [floor(j n / P), floor((j+1) n / P)); rank j sums it in fp32, divides by P
/// once, and its result is what every rank gets. With Wire::bf16, values are rounded once in, summed in fp32, rounded
/// once out, also on the rank that formed them. NaN and infinities travel like numbers. Buffers persist: nothing is
/// allocated after construction but what the communicator keeps.
class DenseMean {
 public:
  /// `count`: the longest vector that will be given. The communicator must outlive the mean.
  /// \throws InputError for Allreduce::library with Wire::bf16: the library has no such type.
  DenseMean(Communicator& communicator, Index count, Wire wire, Allreduce method);
  ~DenseMean();
  DenseMean(DenseMean&& other) noexcept;
  /// inout: (count) floats, this rank's vector in, the mean out; untouched by the caller until wait() returns. P = 1
  /// leaves it untouched with either wire: nothing crosses a network. One mean at a time.
  void start(Exec const& exec, Vec<float> const& inout);
  /// Does all that is left to do.
  void wait(Exec const& exec);
  /// The same in pieces, for who has several means under way: once scattered() this rank's chunk of all ranks is there
  /// and gather(), which sums it and sends the sum, waits for nobody; once gathered() nor does wait().
  bool scattered() const;
  void gather(Exec const& exec);
  bool gathered() const;
  /// Bytes a rank sends for one mean of `count` elements, by formula; compared with the counters in a test. For
  /// Allreduce::library the vector once, as counted: what the library makes of it is its own affair.
  static std::int64_t predicted_bytes(Index count, int rank, int size, Wire wire, Allreduce method);
  /// The same for a rank of a group, with those that stay on its node.
  static Traffic predicted_traffic(Communicator const& group, Index count, Wire wire, Allreduce method);
  std::int64_t buffer_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

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
