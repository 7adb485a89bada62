// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/communicator.hpp"

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

}  // namespace bellwether::comm
