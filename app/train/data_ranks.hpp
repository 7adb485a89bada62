// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "comm/transport/world.hpp"

#include <memory>
#include <string>

namespace bellwether::app {

/// The ranks that share the data of a step: a communicator over the transport that the deck selects, and groups by node
/// if the deck selects a hierarchy.
class DataRanks {
 public:
  /// Collective. \throws CommonError if the chosen transport is not available, or if the hierarchy needs nodes with
  /// equal numbers of ranks and they differ.
  DataRanks(comm::CommConfig const& config, comm::World& world);
  ~DataRanks();

  comm::Communicator& all() const { return *all_; }
  comm::NodeGroups* by_node() const { return by_node_.get(); }  ///< null without a hierarchy
  comm::Nodes const& nodes() const { return nodes_; }
  /// Returns the transport of collectives and the reason for it: "mpi: the program computes on the host".
  std::string const& transport() const { return transport_; }

 private:
  comm::Nodes nodes_;
  std::string transport_;
  std::unique_ptr<comm::Communicator> own_;  // set if the world's communicator uses another transport
  comm::Communicator* all_;
  std::unique_ptr<comm::NodeGroups> by_node_;
};

}  // namespace bellwether::app
