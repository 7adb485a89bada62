// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "app/bench/bench_json.hpp"

#include "app/launch/version.hpp"

#include <nlohmann/json.hpp>

namespace bellwether::app {
namespace {

using Json = nlohmann::ordered_json;

Json timing_json(Timing const& timing) {
  return {{"median", timing.median}, {"fastest", timing.fastest}, {"slowest", timing.slowest}};
}

Json checks_json(std::vector<Check> const& checks) {
  auto list = Json::array();
  for (auto const& check : checks) list.push_back({{"claim", check.claim}, {"holds", check.holds}});
  return list;
}

Json head(BenchMachine const& machine, char const* bench) {
  return {{"bench", bench},
          {"program", program_version()},
          {"build", build_options()},
          {"machine",
           {{"processor", machine.processor},
            {"cores", machine.cores},
            {"ranks", machine.ranks},
            {"threads_a_rank", machine.threads},
            {"device", machine.device},
            {"mpi", machine.mpi}}}};
}

Json exchange_json(std::vector<ExchangeRow> const& rows) {
  auto all = Json::array();
  for (auto const& row : rows)
    all.push_back({{"elements", row.elements},
                   {"sent", row.sent},
                   {"received", row.received},
                   {"passed_on", row.passed_on},
                   {"finished", row.finished}});
  return all;
}

Json timeline_json(Timeline const& line) {
  auto rows = Json::array();
  for (auto const& row : line.rows)
    rows.push_back({{"first_element", row.first},
                    {"last_element", row.last},
                    {"ready", row.ready},
                    {"started", row.started},
                    {"summed", row.summed},
                    {"finished", row.finished}});
  return {{"encoder_backward", line.encoder_backward},
          {"backward_end", line.backward_end},
          {"segments", std::move(rows)},
          {"exposed_seconds", timing_json(line.exposed)},
          {"exposed_seconds_without_overlap", timing_json(line.exposed_apart)},
          {"step_seconds", timing_json(line.step)},
          {"step_seconds_without_overlap", timing_json(line.step_apart)}};
}

}  // namespace

std::string collectives_json(BenchMachine const& machine, SizedResults const& results) {
  auto document = head(machine, "collectives");
  document["results"] = Json::array();
  for (auto const& [elements, rows] : results)
    for (auto const& row : rows)
      document["results"].push_back({{"elements", elements},
                                     {"collective", row.name},
                                     {"latency_seconds", timing_json(row.latency)},
                                     {"algorithm_bytes_per_second", algorithm_speed(elements, row)},
                                     {"bus_bytes_per_second", bus_speed(elements, machine.ranks, row)},
                                     {"sent_bytes", row.sent_bytes},
                                     {"dense_bytes_over_sent", row.share_of_dense},
                                     {"checks", checks_json(row.checks)}});
  return document.dump(2) + "\n";
}

std::string kernels_json(BenchMachine const& machine, SizedKernels const& results) {
  auto document = head(machine, "kernels");
  document["results"] = Json::array();
  for (auto const& [elements, spaces] : results)
    for (auto const& result : spaces) {
      auto kernels = Json::array();
      for (auto const& kernel : result.kernels)
        kernels.push_back({{"kernel", kernel.name},
                           {"elements", kernel.elements},
                           {"least_bytes_an_element", kernel.bytes},
                           {"call_seconds", timing_json(kernel.call)},
                           {"bytes_per_second", speed_of(kernel)},
                           {"over_copy", kernel.over_copy},
                           {"over_triad", kernel.over_triad}});
      document["results"].push_back({{"elements", elements},
                                     {"by", result.where},
                                     {"kernels", std::move(kernels)},
                                     {"checks", checks_json(result.checks)}});
    }
  return document.dump(2) + "\n";
}

std::string optimizer_json(BenchMachine const& machine, OptimizerBenchResult const& result) {
  auto document = head(machine, "optimizer");
  document["parameters"] = result.parameters;
  document["results"] = Json::array();
  for (auto const& phase : result.phases) {
    auto kernels = Json::array();
    for (auto const& kernel : phase.kernels)
      kernels.push_back({{"label", kernel.label},
                         {"seconds", kernel.seconds},
                         {"least_bytes_an_element", kernel.least_bytes},
                         {"moved_bytes_an_element", kernel.moved_bytes},
                         {"over_least", kernel.over_least},
                         {"over_moved", kernel.over_moved}});
    document["results"].push_back({{"method", phase.method},
                                   {"phase", phase.phase},
                                   {"step_seconds", timing_json(phase.step)},
                                   {"triad_bytes_per_second", phase.triad_bytes_per_second},
                                   {"bound_seconds", phase.bound_seconds},
                                   {"state_bytes", phase.state_bytes},
                                   {"kernels", std::move(kernels)},
                                   {"checks", checks_json(phase.checks)}});
    if (phase.specified_bytes > 0)
      document["results"].back().update(
          {{"specified_bytes_an_element", phase.specified_bytes}, {"over_specified", phase.over_specified}});
    if (!phase.timeline.empty()) document["results"].back()["timeline"] = exchange_json(phase.timeline);
  }
  return document.dump(2) + "\n";
}

std::string checkpoint_json(BenchMachine const& machine, CheckpointBenchResult const& result) {
  auto document = head(machine, "checkpoint");
  document["parameters"] = result.parameters;
  document["bytes"] = result.bytes;
  document["bytes_of_rank_0"] = result.root_bytes;
  document["results"] = Json::array();
  for (auto const& one : result.results)
    document["results"].push_back({{"asynchronous", one.asynchronous},
                                   {"training_stands_seconds", timing_json(one.stands_still)},
                                   {"complete_seconds", timing_json(one.complete)},
                                   {"copy_seconds", timing_json(one.copy)},
                                   {"checks", checks_json(one.checks)}});
  return document.dump(2) + "\n";
}

std::string step_json(BenchMachine const& machine, StepBench const& bench, std::vector<StepResult> const& results) {
  auto document = head(machine, "step");
  document["sequences_a_rank"] = bench.sequences;
  document["sequence_length"] = bench.length;
  document["masked_a_sequence"] = bench.masked;
  document["results"] = Json::array();
  for (auto const& result : results) {
    Json one{{"compute", compute_type_name(result.type)},
             {"step_seconds", timing_json(result.step)},
             {"tokens_per_second", result.tokens / result.step.median},
             {"flops_per_second", result.flops / result.step.median},
             {"product_flops_per_second", result.product_flops},
             {"product_side", result.product_side},
             {"workspace_bytes", result.workspace}};
    if (result.recorded) one["recorded_step_seconds"] = timing_json(*result.recorded);
    if (bench.profile) {
      one["profiled_step_seconds"] = result.profiled_seconds;
      one["products_bound_seconds"] = result.bound_seconds;
      one["products"] = Json::array();
      for (auto const& p : result.products)
        one["products"].push_back({{"m", p.m},
                                   {"n", p.n},
                                   {"k", p.k},
                                   {"form", p.form()},
                                   {"calls", p.calls},
                                   {"seconds", p.seconds},
                                   {"alone_seconds", p.alone},
                                   {"alone_flops_per_second", p.speed_alone()}});
      one["kernels"] = Json::array();
      for (auto const& kernel : result.kernels)
        one["kernels"].push_back({{"label", kernel.label}, {"calls", kernel.calls}, {"seconds", kernel.seconds}});
    }
    if (result.timeline) one["timeline"] = timeline_json(*result.timeline);
    one["checks"] = checks_json(result.checks);
    document["results"].push_back(std::move(one));
  }
  return document.dump(2) + "\n";
}

}  // namespace bellwether::app
