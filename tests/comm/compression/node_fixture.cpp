// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/comm/compression/node_fixture.hpp"

#include "core/simd/bf16.hpp"

#include <algorithm>
#include <utility>

namespace bellwether::test {

NodesOf::NodesOf(int ranks_per_node, comm::MpiOptions const& how)
    : NodesOf(comm::make_world_communicator(how), ranks_per_node) {}

NodesOf::NodesOf(std::unique_ptr<comm::Communicator> group, int ranks_per_node)
    : all(std::move(group)), here(ranks_per_node), nodes(all->size() / ranks_per_node) {
  comm::CommConfig config;
  config.hierarchy = comm::Hierarchy::node;
  config.ranks_per_node = ranks_per_node;
  comm::Nodes found;
  found.node_of.assign(static_cast<std::size_t>(all->size()), 0);
  found.hosts.emplace_back("here");
  auto const chosen = comm::chosen_nodes(found, all->rank(), config);
  all->set_nodes(chosen.node_of);
  groups = std::make_unique<comm::NodeGroups>(*all, chosen, config);
}

std::vector<int> divisors_of_world() {
  std::vector<int> divisors;
  for (int here = 1; here <= world().size(); ++here)
    if (world().size() % here == 0) divisors.push_back(here);
  return divisors;
}

HierarchicalReference::HierarchicalReference(Index count, int ranks_per_node, int nodes,
                                             comm::CompressionOptions const& options, comm::Wire wire)
    : count_(count),
      here_(ranks_per_node),
      nodes_(nodes),
      compresses_(nodes > 1 || options.compress_alone),
      wire_(wire),
      active_(static_cast<std::size_t>(count), true) {
  for (int place = 0; place < here_; ++place)
    slices_.emplace_back(first(place + 1) - first(place), static_cast<std::size_t>(nodes), options.scale,
                         static_cast<std::size_t>(options.scale_groups));
}

std::size_t HierarchicalReference::first(int place) const {
  Index const slice = 32 * ((count_ + 32 * here_ - 1) / (32 * here_));
  return static_cast<std::size_t>(std::min(count_, place * slice));
}

void HierarchicalReference::set_active(std::vector<bool> const& active) {
  active_ = active;
  for (int place = 0; place < here_; ++place) {
    std::vector<bool> part;
    for (std::size_t k = first(place); k < first(place + 1); ++k) part.push_back(active[k]);
    slices_[static_cast<std::size_t>(place)].set_active(part);
  }
}

std::vector<std::vector<float>> HierarchicalReference::node_means(std::vector<std::vector<float>> const& inputs,
                                                                  int place) const {
  std::vector<std::vector<float>> means(static_cast<std::size_t>(nodes_));
  for (std::size_t node = 0; node < means.size(); ++node)
    for (std::size_t k = first(place); k < first(place + 1); ++k) {
      float sum = 0;
      for (int i = 0; i < here_; ++i) {
        float value = inputs[node * static_cast<std::size_t>(here_) + static_cast<std::size_t>(i)][k];
        if (here_ > 1 && wire_ == comm::Wire::bf16) value = float(bf16(value));
        sum = i == 0 ? value : sum + value;
      }
      means[node].push_back(sum / static_cast<float>(here_));
    }
  return means;
}

std::vector<float> HierarchicalReference::mean(std::vector<std::vector<float>> const& inputs) {
  std::vector<float> whole;
  for (int place = 0; place < here_; ++place) {
    auto const means = node_means(inputs, place);
    auto const slice = compresses_ ? slices_[static_cast<std::size_t>(place)].mean(means) : means[0];
    for (std::size_t k = 0; k < slice.size(); ++k) whole.push_back(active_[first(place) + k] ? slice[k] : 0.0f);
  }
  return whole;
}

std::vector<bool> const& HierarchicalReference::worker_signs(int place, int node) const {
  return slices_[static_cast<std::size_t>(place)].worker_signs[static_cast<std::size_t>(node)];
}

}  // namespace bellwether::test
