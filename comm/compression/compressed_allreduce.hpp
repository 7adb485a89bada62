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

/// The mean over ranks at one bit an element, with error feedback at both ends (1-bit LAMB, arXiv 2104.06069; 1-bit
/// Adam, arXiv 2102.02888, algorithm 1). Rank i:
///   z = a_i + e,  S = scale of z,  e = z - S sgn(z);                      its signs of chunk j and S go to rank j
///   y = (sum_i S_i sgn(z_i)) / P + d,  R = scale of y,  d = y - R sgn(y);  signs of y and R go to everybody
///   element k of the mean is R sgn(y_k)
/// with scales and residuals over active elements only. The result is bitwise equal on all ranks, and the same for any
/// threads and segments. A group of one keeps every value: its mean is a + e, its residual then 0, and nothing is sent.
/// One pass reads and writes the vector: the buffer keeps z and the residual is formed when it is next read. Two
/// collectives a mean and segment. Nothing is allocated after construction but what the communicator keeps.
class CompressedAllreduce {
 public:
  /// count: elements n of the vector. The communicator must outlive this. All elements are active.
  CompressedAllreduce(Communicator& communicator, Index count, CompressionOptions const& options);
  ~CompressedAllreduce();

  /// words: (ceil(n / 32)), 1 = active, the first element in the most significant bit; the same on all ranks. Residuals
  /// of masked elements become 0. Not while a mean is under way. Ends what Decoded points to.
  void set_active(Exec const& exec, Vec<std::uint32_t> const& words);

  /// form: KOKKOS_FUNCTION float(Index k), finite, this rank's element k; called once an element, also for masked ones.
  /// skip: (1) in memory of the execution space, read by the kernels: where it is not 0 the mean is none, Decoded means
  /// nothing and every residual stays as it is; the same on all ranks, unchanged until finish() has returned.
  template <class Form>
  void start(Exec const& exec, Form const& form, std::int32_t const* skip = nullptr);
  /// Valid until the next start(), set_active() or visit_state().
  Decoded finish(Exec const& exec);
  template <class Form>
  Decoded mean(Exec const& exec, Form const& form, std::int32_t const* skip = nullptr) {
    start(exec, form, skip);
    return finish(exec);
  }
  /// (ceil(n / 32)) signs of this rank's z, 0 where masked; valid as long as Decoded.
  Vec<std::uint32_t> const& worker_signs() const;
  /// (ceil(n / 32)) what is active, as set_active() takes it; always there.
  std::uint32_t const* active() const;
  /// What tensor_errors() reads; valid as long as Decoded. Not for a group of one that keeps its values.
  LastMean last_mean() const;

  /// Both residuals themselves, also those that are kept as z: the next mean is bitwise what it would have been. On
  /// one rank of a group of one the server's residual is added to the worker's, and the next mean returns both.
  void visit_state(StateVisitor& visit);
  /// For a reader that begins anew: residuals that were saved are not wanted.
  static void drop_state(StateVisitor& visit);

  CompressedTraffic const& last_traffic() const;
  /// Waits for the kernels of the last mean, if it is asked for the first time since.
  CompressedReport const& last_report() const;
  /// Bytes a rank sends for one mean: (P-1)/P N/4 + 8 (P-1) for one scale group, N = n rounded up to 32 P; 0 for n = 0.
  static std::int64_t predicted_bytes(Index count, int size, std::int64_t scale_groups);
  std::int64_t buffer_bytes() const;
  /// buffer_bytes() of one that need not exist yet.
  static std::int64_t predicted_buffer_bytes(Index count, int rank, int size, CompressionOptions const& options);

 private:
  struct Impl;
  void begin(Exec const& exec, std::int32_t const* skip);
  Index segments() const;
  BlockSlice slice(Index segment) const;
  ResidualPass pass() const;
  std::uint32_t* message() const;
  void send(Exec const& exec, Index segment);

  std::unique_ptr<Impl> impl_;
};

template <class Form>
void CompressedAllreduce::start(Exec const& exec, Form const& form, std::int32_t const* skip) {
  begin(exec, skip);
  for (Index segment = 0; segment < segments(); ++segment) {
    form_words(exec, slice(segment), pass(), message(), worker_signs().data(), form);
    send(exec, segment);
  }
}

}  // namespace bellwether::comm
