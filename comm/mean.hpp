// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/communicator.hpp"

namespace bellwether::comm {

/// Our own dense mean over ranks: reduce-scatter as an all-to-all, sum in rank order, all-gather. Bitwise equal on all
/// ranks and transports. With Wire::bf16, values are rounded once in, summed in fp32, rounded once out. Buffers
/// persist.
class DenseMean {
 public:
  /// `count`: the longest vector that will be given.
  DenseMean(Communicator& communicator, Index count, Wire wire, Allreduce method);
  ~DenseMean();
  /// inout: (count) floats, this rank's vector in, the mean out. P = 1 leaves fp32 untouched.
  void start(Exec const& exec, Vec<float> const& inout);
  void wait(Exec const& exec);
  /// Bytes a rank sends for one mean of `count` elements, by formula; compared with the counters in a test.
  static std::int64_t predicted_bytes(Index count, int rank, int size, Wire wire, Allreduce method);
  std::int64_t buffer_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bellwether::comm
