// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/compressed_kernels.hpp"
#include "comm/compression/compressed_report.hpp"
#include "comm/compression/tensor_errors.hpp"
#include "comm/transport/communicator.hpp"
#include "core/layout/state_visitor.hpp"

#include <memory>

namespace bellwether::comm {

/// Compressed allreduce. The mean over P ranks at one bit per element, with error feedback at workers and servers
/// (1-bit LAMB, arXiv 2104.06069; 1-bit Adam, arXiv 2102.02888, algorithm 1). Rank i:
///   z = a_i + e,  S = scale of z,  e = z - S sgn(z);                      sends its signs of chunk j and S to rank j
///   y = (sum_i S_i sgn(z_i)) / P + d,  R = scale of y,  d = y - R sgn(y);  sends the signs of y and R to all ranks
///   element k of the mean is R sgn(y_k)
/// Scales and residuals cover active elements only. The result is bitwise equal on all ranks, for any number of threads
/// and segments. A group of one sends nothing and compresses nothing: its mean is a + e, and its residual becomes 0.
/// Each mean reads and writes the vector once: the buffer stores z, and the next read computes the residual from it.
/// Each segment needs two collectives. After construction, only the communicator may still allocate.
class CompressedAllreduce {
 public:
  /// count: number of elements n. The communicator must outlive this object. All elements start active.
  CompressedAllreduce(Communicator& communicator, Index count, CompressionOptions const& options);
  ~CompressedAllreduce();

  /// Sets the active elements and zeroes the residuals of masked elements. Not during a mean. Invalidates Decoded.
  /// words: (ceil(n / 32)), 1 = active, the first element in the most significant bit; the same on all ranks.
  void set_active(Exec const& exec, Vec<std::uint32_t> const& words);

  /// Starts a mean. `form`: KOKKOS_FUNCTION float(Index k), finite, returns this rank's element k; called once per
  /// element, masked ones included. `skip`: (1) in execution space memory, read by the kernels; the same on all ranks
  /// and constant until finish() returns. If it is not 0, Decoded is meaningless and every residual stays unchanged.
  template <class Form>
  void start(Exec const& exec, Form const& form, std::int32_t const* skip = nullptr);
  /// Completes the mean. The result is valid until the next start(), set_active() or visit_state().
  Decoded finish(Exec const& exec);
  template <class Form>
  Decoded mean(Exec const& exec, Form const& form, std::int32_t const* skip = nullptr) {
    start(exec, form, skip);
    return finish(exec);
  }
  /// Returns (ceil(n / 32)) signs of this rank's z, 0 for masked elements; valid as long as Decoded.
  Vec<std::uint32_t> const& worker_signs() const;
  /// Returns the (ceil(n / 32)) mask of active elements in the format of set_active(); always valid.
  std::uint32_t const* active() const;
  /// Returns the input of tensor_errors(); valid as long as Decoded. Not for a group of one that does not compress.
  LastMean last_mean() const;

  /// Visits both residuals; those stored as z are computed first. The next mean stays bitwise the same. A group of one
  /// adds the server's residual to the worker's, and its next mean consumes both.
  void visit_state(StateVisitor& visit);
  /// For a reader that starts with zero residuals: skips the saved ones.
  static void drop_state(StateVisitor& visit);

  CompressedTraffic const& last_traffic() const;
  /// Returns the report of the last mean. The first call after a mean waits for its kernels.
  CompressedReport const& last_report() const;
  /// Returns the bytes that a rank sends for one mean; 0 for n = 0. For one scale group, (P-1)/P N/4 + 8 (P-1), where N
  /// is n rounded up to 32 P.
  static std::int64_t predicted_bytes(Index count, int size, std::int64_t scale_groups);
  std::int64_t buffer_bytes() const;
  /// Returns buffer_bytes() of an object with these arguments, without constructing it.
  static std::int64_t predicted_buffer_bytes(Index count, int rank, int size, CompressionOptions const& options);

 private:
  struct Impl;
  void begin(Exec const& exec, std::int32_t const* skip);
  Index segments() const;
  BlockSlice slice(Index segment) const;
  ResidualBuffers buffers() const;
  std::uint32_t* message() const;
  void send(Exec const& exec, Index segment);

  std::unique_ptr<Impl> impl_;
};

template <class Form>
void CompressedAllreduce::start(Exec const& exec, Form const& form, std::int32_t const* skip) {
  begin(exec, skip);
  for (Index segment = 0; segment < segments(); ++segment) {
    form_words(exec, slice(segment), buffers(), message(), worker_signs().data(), form);
    send(exec, segment);
  }
}

}  // namespace bellwether::comm
