// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/config.hpp"
#include "comm/world.hpp"

#include <memory>

namespace bellwether::comm {

/// The nodes that a deck works with: `found`, or ranks [q L, (q+1) L) on node q where comm.ranks_per_node is L, the
/// last of which may have fewer. rank: this one in the world.
Nodes chosen_nodes(Nodes const& found, int rank, CommConfig const& config);

/// The two groups of a rank whose exchange goes through its node: L ranks a node, Q nodes.
class NodeGroups {
 public:
  /// Collective. nodes: of all ranks of `all`.
  /// \throws InputError on every rank alike where nodes hold different numbers of ranks; it names the key.
  NodeGroups(Communicator& all, Nodes const& nodes, CommConfig const& config);
  ~NodeGroups();

  Communicator& inside() const { return *inside_; }  ///< (L) ranks of this rank's node, in their order
  Communicator& across() const { return *across_; }  ///< (Q) ranks with this one's place on their nodes, node by node

 private:
  std::unique_ptr<Communicator> inside_, across_;
};

}  // namespace bellwether::comm
