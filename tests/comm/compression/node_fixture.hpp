// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/hierarchical_allreduce.hpp"
#include "comm/transport/mpi_communicator.hpp"
#include "tests/comm/compression/compressed_fixture.hpp"

#include <memory>
#include <vector>

namespace bellwether::test {

/// The ranks of the world, grouped into nodes of neighbouring ranks.
struct NodesOf {
  explicit NodesOf(int ranks_per_node, comm::MpiOptions const& how = {.timeout = 60});
  /// The same for the ranks of `group`.
  NodesOf(std::unique_ptr<comm::Communicator> group, int ranks_per_node);
  int node() const { return all->rank() / here; }
  int place() const { return all->rank() % here; }

  std::unique_ptr<comm::Communicator> all;
  std::unique_ptr<comm::NodeGroups> groups;
  int here;   ///< L
  int nodes;  ///< Q
};

/// Returns the divisors of the world's size: possible numbers of ranks per node.
std::vector<int> divisors_of_world();

/// Reference of the hierarchical compressed mean, with all ranks in one process and one reference exchange per slice.
class HierarchicalReference {
 public:
  HierarchicalReference(Index count, int ranks_per_node, int nodes, comm::CompressionOptions const& options,
                        comm::Wire wire);
  void set_active(std::vector<bool> const& active);
  /// inputs: (P, n). Returns the mean, (n).
  std::vector<float> mean(std::vector<std::vector<float>> const& inputs);
  std::vector<bool> const& worker_signs(int place, int node) const;
  /// Returns the inputs of the inter-node exchange of a slice, (Q, slice).
  std::vector<std::vector<float>> node_means(std::vector<std::vector<float>> const& inputs, int place) const;
  ReferenceCompression<float> const& slice(int place) const { return slices_[static_cast<std::size_t>(place)]; }
  std::size_t first(int place) const;  ///< first element of a slice

 private:
  Index count_;
  int here_, nodes_;
  bool compresses_;
  comm::Wire wire_;
  std::vector<bool> active_;
  std::vector<ReferenceCompression<float>> slices_;
};

}  // namespace bellwether::test
