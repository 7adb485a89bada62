// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/compressed_allreduce.hpp"
#include "comm/compression/node_kernels.hpp"
#include "comm/transport/world.hpp"

#include <memory>

namespace bellwether::comm {

/// Hierarchical compressed allreduce over Q nodes of L ranks: the mean over nodes of each node's dense mean.
///   1. Inside a node, each rank sends its values to the owners of the slices, in the dense wire type. The owner of a
///      slice sums them in rank order.
///   2. The owners of the same slice on all nodes average it with CompressedAllreduce. It keeps both residuals of that
///      slice only.
///   3. The ranks of a node send each other signs and magnitudes and decode the whole vector.
/// The result is bitwise equal on all ranks. Bytes that a rank sends, with N = n rounded up to whole words and
/// chunks and w bytes per value of the wire type: inter-node (Q-1)/Q N/(4L) + 8; intra-node (L-1)/L (w N +
/// N/8) + 4 Q (L-1). With L = 1 it equals CompressedAllreduce over all ranks bit for bit. With Q = 1 it compresses
/// nothing and uses fp32.
class HierarchicalAllreduce {
 public:
  /// data: all ranks, used to count dense traffic. nodes: the node groups of data's ranks, or nullptr for no hierarchy.
  /// Both must outlive this object.
  HierarchicalAllreduce(Communicator& data, NodeGroups const* nodes, Index count, CompressionOptions const& options,
                        Wire wire);
  ~HierarchicalAllreduce();

  /// Sets the active elements, see CompressedAllreduce::set_active().
  void set_active(Exec const& exec, Vec<std::uint32_t> const& words);
  /// Starts a mean, see CompressedAllreduce::start(). Values of masked elements are ignored.
  template <class Form>
  void start(Exec const& exec, Form const& form, std::int32_t const* skip = nullptr);
  /// Completes the mean. The result is valid until the next start(), set_active() or visit_state().
  Decoded finish(Exec const& exec);
  template <class Form>
  Decoded mean(Exec const& exec, Form const& form, std::int32_t const* skip = nullptr) {
    start(exec, form, skip);
    return finish(exec);
  }

  /// This rank compresses elements [slice_first, slice_first + slice_count) of the vector; all of them without a
  /// hierarchy.
  Index slice_first() const;
  Index slice_count() const;
  /// Returns (ceil(slice_count / 32)) signs of this rank's z, 0 for masked elements; valid as long as Decoded.
  Vec<std::uint32_t> const& worker_signs() const;
  /// Returns the (ceil(n / 32)) mask of active elements of the whole vector.
  std::uint32_t const* active() const;
  /// Returns CompressedAllreduce::last_mean() of the slice.
  LastMean last_mean() const;

  /// Visits the residuals by element. The Q ranks of a slice each hold a worker residual.
  void visit_state(StateVisitor& visit);

  CompressedTraffic const& last_traffic() const;
  /// Returns CompressedAllreduce::last_report() of the slice.
  CompressedReport const& last_report() const;
  /// Returns the bytes that this rank sends for one mean.
  static CompressedTraffic predicted_traffic(Communicator const& data, NodeGroups const* nodes, Index count,
                                             CompressionOptions const& options, Wire wire);
  /// Returns slice_count() of an object with these arguments, without constructing it.
  static Index predicted_slice_count(Communicator const& data, NodeGroups const* nodes, Index count,
                                     CompressionOptions const& options);
  std::int64_t buffer_bytes() const;
  /// Returns buffer_bytes() of an object with these arguments, without constructing it.
  static std::int64_t predicted_buffer_bytes(Communicator const& data, NodeGroups const* nodes, Index count,
                                             CompressionOptions const& options, Wire wire);

 private:
  struct Impl;
  /// Buffer for this rank's values before the intra-node scatter; the pointer of the unused wire type is nullptr.
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
