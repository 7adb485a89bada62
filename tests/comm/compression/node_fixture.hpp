// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/compression/hierarchical_allreduce.hpp"
#include "comm/transport/mpi_communicator.hpp"
#include "tests/comm/compression/compressed_fixture.hpp"

#include <memory>
#include <vector>

namespace bellwether::test {

/// The ranks of the world as if neighbours shared nodes.
struct NodesOf {
  explicit NodesOf(int ranks_per_node, comm::MpiOptions const& how = {.deadline = 60});
  /// The same of a group's ranks.
  NodesOf(std::unique_ptr<comm::Communicator> group, int ranks_per_node);
  int node() const { return all->rank() / here; }
  int place() const { return all->rank() % here; }

  std::unique_ptr<comm::Communicator> all;
  std::unique_ptr<comm::NodeGroups> groups;
  int here;   ///< L
  int nodes;  ///< Q
};

/// Ranks a node that the world divides into.
std::vector<int> divisors_of_world();

/// The compressed mean through nodes, all ranks in one place: for each slice the reference of its exchange.
class HierarchicalReference {
 public:
  HierarchicalReference(Index count, int ranks_per_node, int nodes, comm::CompressionOptions const& options,
                        comm::Wire wire);
  void set_active(std::vector<bool> const& active);
  /// inputs: (P, n). Returns the mean, (n).
  std::vector<float> mean(std::vector<std::vector<float>> const& inputs);
  std::vector<bool> const& worker_signs(int place, int node) const;
  /// What the nodes exchange of a slice, (Q, slice).
  std::vector<std::vector<float>> node_means(std::vector<std::vector<float>> const& inputs, int place) const;
  ReferenceCompression<float> const& slice(int place) const { return slices_[static_cast<std::size_t>(place)]; }
  std::size_t first(int place) const;  ///< element of a slice

 private:
  Index count_;
  int here_, nodes_;
  bool compresses_;
  comm::Wire wire_;
  std::vector<bool> active_;
  std::vector<ReferenceCompression<float>> slices_;
};

}  // namespace bellwether::test
