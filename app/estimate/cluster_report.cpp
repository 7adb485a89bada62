// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/cluster_report.hpp"

#include "app/format/formatted.hpp"
#include "app/format/readable_numbers.hpp"
#include "app/launch/collective_errors.hpp"
#include "app/machine/machine_speed.hpp"
#include "app/machine/timing.hpp"
#include "comm/transport/rank_group.hpp"
#include "comm/transport/world.hpp"
#include "input/files/yaml_document.hpp"

#include <algorithm>

namespace bellwether::app {
namespace {

constexpr double bytes_of_gigabit = 1e9 / 8;

std::string row(Forecast const& at) {
  auto const seconds = [](double value) { return formatted(" %9s", seconds_text(value).c_str()); };
  auto text = formatted("  %5d %5d", at.ranks, at.nodes) + seconds(at.dense.passes) + seconds(at.dense.optimizer) +
              seconds(at.dense.network) + seconds(at.dense.seconds());
  if (at.compressed) {
    std::string const equal = at.break_even ? formatted("%.3g Gbit/s", *at.break_even / bytes_of_gigabit)
                                            : std::string(at.nodes > 1 ? "any link" : "-");
    text += seconds(at.compressed->optimizer) + seconds(at.compressed->network) + seconds(at.compressed->seconds()) +
            formatted(" %7.2f %7.2f %13s", at.step_gain(), at.run_gain(), equal.c_str());
  }
  return text + "\n";
}

std::string heading(bool compresses) {
  std::string const columns = "  ranks nodes    passes optimizer   network      step";
  if (!compresses) return columns + "\n";
  std::string const all = columns + " optimizer   network      step  a step   a run  faster below\n";
  std::string above(columns.find("passes") - 4, ' ');
  above += "-------- up to the freeze -------------  ----- after the freeze -----  times faster\n";
  return above + all;
}

}  // namespace

input::Cluster read_shared_cluster(comm::RankGroup& group, std::string const& path) {
  std::string text;
  together(group, [&] {
    if (group.rank() == 0) text = input::read_cluster_text(path);
  });
  auto const name = broadcast_text(group, input::document_name(path));
  text = broadcast_text(group, text);
  input::Cluster cluster;
  together(group, [&] { cluster = input::parse_cluster(name, text); });
  return cluster;
}

NetworkModel network_of(input::Cluster const& cluster) {
  return {.ranks_per_node = static_cast<int>(cluster.ranks_per_node),
          .bandwidth = cluster.network_bandwidth * bytes_of_gigabit,
          .latency = cluster.network_latency * 1e-6,
          .intra_node_bandwidth = cluster.node_bandwidth * bytes_of_gigabit,
          .intra_node_latency = cluster.node_latency * 1e-6,
          .overhead = cluster.overhead * 1e-6};
}

Workload workload_of(comm::World& world, input::Cluster const& cluster, input::Deck const& deck,
                     BuildReport const& report) {
  Workload work{.parameters = report.parameters,
                .tensors = report.tensors,
                .sequences = deck.batch.global,
                .step_flops = report.step_flops,
                .steps = deck.schedule.steps,
                .optimizer = deck.optimizer,
                .comm = deck.comm};
  work.pass_flops = cluster.compute ? *cluster.compute * 1e9
                                    : measured_pass_speed(world, {.model = deck.model,
                                                                  .type = deck.model.compute,
                                                                  .sequences = std::min(deck.batch.micro, report.share),
                                                                  .length = report.sequence_length,
                                                                  .masked = report.masked_length});
  work.memory_bandwidth = cluster.memory ? *cluster.memory * 1e9 : measured_memory_speed(world);
  return work;
}

std::string cluster_text(std::string const& name, input::Cluster const& cluster, Workload const& work) {
  auto const here = [](bool given) { return std::string(given ? "" : ", measured here"); };
  bool const compresses = optim::compresses(work.optimizer.method);
  auto text = "on " + name + ", by a model of its network\n" +
              formatted("  compute of a rank       %.3g GFLOP/s", work.pass_flops * 1e-9) +
              here(cluster.compute.has_value()) + "\n" +
              formatted("  memory of a rank        %.3g GB/s", work.memory_bandwidth * 1e-9) +
              here(cluster.memory.has_value()) + "\n";
  if (compresses)
    text += "  freeze                  after " + std::to_string(work.dense_steps()) + " of " +
            counted(work.steps, "step") + (work.optimizer.freeze.step ? "" : ", at the latest") + "\n";
  auto const all = forecasts(work, network_of(cluster), cluster.most_ranks);
  if (all.empty())
    return text + "  no forecast: a node has more ranks than a step has sequences, " + std::to_string(work.sequences) +
           "\n";
  text += heading(compresses);
  for (auto const& at : all) text += row(at);
  if (all.back().ranks + cluster.ranks_per_node <= cluster.most_ranks)
    text += "  more ranks would have nothing to do: a step has " + counted(work.sequences, "sequence") +
            " (batch.global)\n";
  return text;
}

}  // namespace bellwether::app
