// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "comm/transport/world.hpp"

#include <memory>
#include <string>

namespace bellwether::comm {

/// The ranks of a job as a grid of data replicas x pipeline stages. A replica holds one copy of the model and computes
/// one share of a step's data; its ranks hold one stage of the model each. Every process group of training comes from
/// here. For now there is one stage: each rank is a replica, and data() has all ranks.
class ProcessGrid {
 public:
  /// Collective. world: must outlive the grid.
  /// \throws InputError on every rank if the chosen transport is not available, or if the hierarchy needs nodes with
  /// equal numbers of ranks and they differ.
  ProcessGrid(CommConfig const& config, World& world);
  ~ProcessGrid();

  /// All ranks of the job, for collectives on host memory.
  RankGroup& world() const { return world_; }
  /// The ranks of all replicas that hold this rank's stage, in order of replicas, over the transport that the deck
  /// selects. They share a step's data: gradients, losses and counts are sums over this group.
  Communicator& data() const { return *data_; }
  /// Node groups of data(), with comm.hierarchy: node. Null without a hierarchy.
  NodeGroups* node() const { return node_.get(); }
  /// The ranks that hold the stages of this rank's replica, in order of stages.
  Communicator& stage() const { return *stage_; }

  int replicas() const { return replicas_; }            ///< the size of data()
  int stages() const { return stages_; }                ///< the size of stage()
  int replica_index() const { return replica_index_; }  ///< this rank's place in data()
  int stage_index() const { return stage_index_; }      ///< this rank's place in stage()

  /// The nodes of data()'s ranks, as detected or from comm.ranks_per_node.
  Nodes const& nodes() const { return nodes_; }
  /// Returns the transport of data() and the reason for it: "mpi: the program computes on the host".
  std::string const& transport() const { return transport_; }

 private:
  RankGroup& world_;
  Nodes nodes_;
  std::string transport_;
  std::unique_ptr<Communicator> own_;  // set if the world's communicator uses another transport
  Communicator* data_;
  std::unique_ptr<NodeGroups> node_;
  std::unique_ptr<Communicator> stage_;
  int replicas_, stages_, replica_index_, stage_index_;
};

}  // namespace bellwether::comm
