// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/transport/process_grid.hpp"

#include "comm/transport/communicator.hpp"
#include "comm/transport/transport.hpp"

namespace bellwether::comm {

ProcessGrid::ProcessGrid(CommConfig const& config, World& world)
    : world_(world.group()),
      nodes_(chosen_nodes(world.nodes(), world.rank(), config)),
      data_(&world.communicator()),
      stage_(make_self_communicator()) {
  auto const chosen = choose_transport(config, world.offer());
  transport_ = std::string(transport_name(chosen.transport)) + ": " + chosen.reason;
  if (chosen.transport != Transport::mpi) {
    own_ = world.make_communicator(chosen.transport, config.deadline);
    data_ = own_.get();
  }
  data_->set_nodes(nodes_.node_of);
  if (config.hierarchy == Hierarchy::node) node_ = std::make_unique<NodeGroups>(*data_, nodes_, config);
  replicas_ = data_->size();
  stages_ = stage_->size();
  replica_index_ = data_->rank();
  stage_index_ = stage_->rank();
}

ProcessGrid::~ProcessGrid() = default;

}  // namespace bellwether::comm
