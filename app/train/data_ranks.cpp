// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/train/data_ranks.hpp"

#include "app/launch/collective_errors.hpp"
#include "comm/transport/communicator.hpp"
#include "comm/transport/transport.hpp"
#include "core/system/error.hpp"

namespace bellwether::app {
namespace {

/// Returns work(). Its InputErrors occur on every rank, so they become CommonErrors.
template <class Work>
auto found_by_all(Work const& work) {
  try {
    return work();
  } catch (InputError const& error) {
    throw CommonError(error.faults());
  }
}

}  // namespace

DataRanks::DataRanks(comm::CommConfig const& config, comm::World& world)
    : nodes_(comm::chosen_nodes(world.nodes(), world.rank(), config)), all_(&world.communicator()) {
  auto const chosen = found_by_all([&] { return comm::choose_transport(config, world.offer()); });
  transport_ = std::string(comm::transport_name(chosen.transport)) + ": " + chosen.reason;
  if (chosen.transport != comm::Transport::mpi) {
    own_ = world.make_communicator(chosen.transport, config.deadline);
    all_ = own_.get();
  }
  all_->set_nodes(nodes_.node_of);
  if (config.hierarchy == comm::Hierarchy::node)
    by_node_ = found_by_all([&] { return std::make_unique<comm::NodeGroups>(*all_, nodes_, config); });
}

DataRanks::~DataRanks() = default;

}  // namespace bellwether::app
