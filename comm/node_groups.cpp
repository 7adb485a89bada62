// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "comm/node_groups.hpp"

#include "comm/communicator.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <string>

namespace bellwether::comm {
namespace {

/// "2, 2, 1"
std::string ranks_by_node(Nodes const& nodes) {
  std::vector<int> ranks(static_cast<std::size_t>(nodes.count), 0);
  for (int const node : nodes.node_of) ++ranks[static_cast<std::size_t>(node)];
  std::string text;
  for (int const count : ranks) text += (text.empty() ? "" : ", ") + std::to_string(count);
  return text;
}

}  // namespace

Nodes chosen_nodes(Nodes const& found, int rank, CommConfig const& config) {
  if (!config.ranks_per_node) return found;
  int const size = static_cast<int>(found.node_of.size());
  int const together = static_cast<int>(std::min<std::int64_t>(*config.ranks_per_node, size));
  Nodes nodes{.count = (size + together - 1) / together,
              .mine = rank / together,
              .ranks_here = std::min(together, size - rank / together * together),
              .rank_here = rank % together,
              .equal = size % together == 0,
              .node_of = {},
              .hosts = {}};
  for (int each = 0; each < size; ++each) {
    nodes.node_of.push_back(each / together);
    if (each % together != 0) continue;
    auto const host = static_cast<std::size_t>(found.node_of[static_cast<std::size_t>(each)]);
    nodes.hosts.push_back(found.hosts[host]);
  }
  return nodes;
}

NodeGroups::NodeGroups(Communicator& all, Nodes const& nodes, CommConfig const& config) {
  require(static_cast<int>(nodes.node_of.size()) == all.size(), "the nodes of another group");
  if (!nodes.equal)
    throw InputError((config.ranks_per_node ? "comm.ranks_per_node: " + std::to_string(*config.ranks_per_node)
                                            : std::string("comm.hierarchy: node")) +
                     ", but then nodes hold " + ranks_by_node(nodes) + " of " + std::to_string(all.size()) +
                     " ranks; allowed with comm.hierarchy: node: as many ranks on every node");
  inside_ = all.split(nodes.mine, all.rank());
  across_ = all.split(nodes.rank_here, nodes.mine);
}

NodeGroups::~NodeGroups() = default;

}  // namespace bellwether::comm
