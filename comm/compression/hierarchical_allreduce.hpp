// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/compressed_allreduce.hpp"
#include "comm/compression/node_kernels.hpp"
#include "comm/transport/world.hpp"

#include <memory>

namespace bellwether::comm {

/// The compressed mean through nodes of L ranks each, Q of them: the mean over nodes of the means of their ranks.
///   Inside a node, values go to the rank that their slice belongs to, in the dense wire type; it sums them in the
///   order of ranks. Ranks that have the same slice exchange it between nodes by CompressedAllreduce, which keeps both
///   residuals of the slice alone. Then the ranks of a node send each other signs and magnitudes, and decode the whole.
/// Bitwise equal on all ranks. Bytes a rank sends, N = n rounded up to whole words and chunks, wire type of w bytes:
/// between nodes (Q-1)/Q N/(4L) + 8, inside (L-1)/L (w N + N/8) + 4 Q (L-1). With L = 1 it is CompressedAllreduce
/// over all ranks, bit for bit. With Q = 1 nothing is compressed: values go round in fp32.
class HierarchicalAllreduce {
 public:
  /// data: all ranks, for the counts beside; nodes: of data's ranks, nullptr for no hierarchy. Both outlive this.
  HierarchicalAllreduce(Communicator& data, NodeGroups const* nodes, Index count, CompressionOptions const& options,
                        Wire wire);
  ~HierarchicalAllreduce();

  /// As CompressedAllreduce::set_active().
  void set_active(Exec const& exec, Vec<std::uint32_t> const& words);
  /// As CompressedAllreduce::start(). What masked elements are given counts for nothing.
  template <class Form>
  void start(Exec const& exec, Form const& form, std::int32_t const* skip = nullptr);
  /// Valid until the next start(), set_active() or visit_state().
  Decoded finish(Exec const& exec);
  template <class Form>
  Decoded mean(Exec const& exec, Form const& form, std::int32_t const* skip = nullptr) {
    start(exec, form, skip);
    return finish(exec);
  }

  /// Elements [slice_first, slice_first + slice_count) of the vector are those that this rank compresses: all, without
  /// a hierarchy.
  Index slice_first() const;
  Index slice_count() const;
  /// (ceil(slice_count / 32)) signs of what this rank compressed, 0 where masked; valid as long as Decoded.
  Vec<std::uint32_t> const& worker_signs() const;
  /// (ceil(n / 32)) what is active of the whole vector.
  std::uint32_t const* active() const;
  /// As CompressedAllreduce::last_mean(), of the slice.
  LastMean last_mean() const;

  /// Residuals by element: the worker's are held by the Q ranks of a slice.
  void visit_state(StateVisitor& visit);

  CompressedTraffic const& last_traffic() const;
  /// As CompressedAllreduce::last_report(), of the slice.
  CompressedReport const& last_report() const;
  /// What this rank sends for one mean.
  static CompressedTraffic predicted_traffic(Communicator const& data, NodeGroups const* nodes, Index count,
                                             CompressionOptions const& options, Wire wire);
  /// slice_count() of one that need not exist yet.
  static Index predicted_slice_count(Communicator const& data, NodeGroups const* nodes, Index count,
                                     CompressionOptions const& options);
  std::int64_t buffer_bytes() const;
  /// buffer_bytes() of one that need not exist yet.
  static std::int64_t predicted_buffer_bytes(Communicator const& data, NodeGroups const* nodes, Index count,
                                             CompressionOptions const& options, Wire wire);

 private:
  struct Impl;
  /// Where this rank's values go to be sent to the owners of slices; nullptr for the other wire type.
  struct Outgoing {
    Index count;
    float* fp32;
    bf16* half;
  };
  CompressedAllreduce& exchange() const;
  bool has_nodes() const;
  Outgoing begin(std::int32_t const* skip);
  void scatter(Exec const& exec);

  std::unique_ptr<Impl> impl_;
};

template <class Form>
void HierarchicalAllreduce::start(Exec const& exec, Form const& form, std::int32_t const* skip) {
  if (!has_nodes()) {
    exchange().start(exec, form, skip);
    return;
  }
  Outgoing const to = begin(skip);
  if (to.fp32 != nullptr)
    form_values(exec, to.count, skip, to.fp32, form);
  else
    form_values(exec, to.count, skip, to.half, form);
  scatter(exec);
}

}  // namespace bellwether::comm
