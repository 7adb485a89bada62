// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "comm/comm_config.hpp"
#include "comm/transport/world.hpp"

#include <memory>
#include <string>

namespace bellwether::app {

/// The ranks that share the data of a step: over the transport that the deck comes to, and by node where it has a
/// hierarchy.
class DataRanks {
 public:
  /// Collective. \throws CommonError where the deck asks for a transport that is not there, or for equal nodes where
  /// they are not.
  DataRanks(comm::CommConfig const& config, comm::World& world);
  ~DataRanks();

  comm::Communicator& all() const { return *all_; }
  comm::NodeGroups* by_node() const { return by_node_.get(); }  ///< null: no hierarchy
  comm::Nodes const& nodes() const { return nodes_; }
  /// What carries collectives, and why: "mpi: the program computes on the host".
  std::string const& transport() const { return transport_; }

 private:
  comm::Nodes nodes_;
  std::string transport_;
  std::unique_ptr<comm::Communicator> own_;  // where the world's own does not carry them
  comm::Communicator* all_;
  std::unique_ptr<comm::NodeGroups> by_node_;
};

}  // namespace bellwether::app
